/** Invalid requests, and clients that disconnect: answered in our own form, or not at all. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { answerOtherEvents, requestListener } from '#runtime/http/node-adapter'
import { serverOptions } from '#runtime/server/server'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const lines: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const app = await testApp({}, { log })
const shop = await store(app)
const server = createServer(
  { ...serverOptions, requestTimeout: 300, connectionsCheckingInterval: 100 },
  requestListener(app.fetch, log, 'localhost'),
)
answerOtherEvents(server, log)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
whenFileEnds(() => new Promise<void>((resolve) => void server.close(() => resolve())))
const { port } = server.address() as AddressInfo

/** Sends this text, and returns the response until the connection ends. */
function send(text: string): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => {
      const [head = '', body = ''] = got.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body })
    })
    socket.write(text)
  })
}
const get = (target: string, ...more: string[]) =>
  `${[`GET ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...more].join('\r\n')}\r\n\r\n`

describe('answers in our own form', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an empty Host', 'GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', get('/healthz', 'host: localhost'), 400],
    ['an impossible Host', 'GET /healthz HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n', 400],
    ['a header larger than all may be', get('/healthz', `X-Long: ${'x'.repeat(20_000)}`), 413],
    ['an expectation that nobody meets', get('/healthz', 'Expect: a miracle'), 400],
    ['two lengths', get('/healthz', 'Content-Length: 1', 'Content-Length: 2'), 400],
    ['a tunnel', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
    [
      'a request that does not come in whole',
      'POST /v1/campaigns/opt-outs HTTP/1.1\r\nHost: localhost\r\nX-Half',
      400,
    ],
  ])('%s', async (_what, text, status) => {
    const answer = await send(text)
    expect([answer.status, answer.body]).toEqual([status, expect.stringContaining('"message":"')])
    expect(answer.head.toLowerCase()).toContain('content-type: application/json')
    expect(answer.head.toLowerCase()).toContain('x-request-id: ')
  })

  test.each([
    '/v1/../metrics',
    '/v1/%2e%2e/metrics',
    '/v1/.%2E/metrics',
    '/v1/x/../../metrics',
    '/./metrics',
    '/v1\\..\\metrics',
    '//metrics',
    '/%6detrics',
    '/metrics#x',
    'http://localhost/v1/../metrics',
    '*',
  ])('%s leads nowhere', async (target) => {
    const { status, body } = await send(get(target))
    expect([status, JSON.parse(body).error.code]).toEqual([404, 'not_found'])
  })
})

describe('a client that disconnects', () => {
  const half = (path: string, ...more: string[]) =>
    [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${shop.key}`, ...more].join('\r\n')

  test.each([
    ['/v1/campaigns/opt-outs', 'Content-Length: 5000\r\n\r\n{"phone":'],
    ['/v1/campaigns/opt-outs', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"pho\r\n'],
    [`/storefront/${shop.publicId}/events`, 'Content-Length: 5000\r\n\r\n{"visitorId":'],
    [`/storefront/${shop.publicId}/events`, 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"pho\r\n'],
    ['/mcp', 'Content-Length: 5000\r\n\r\n{"jsonrpc":'],
  ])('%s: %j is no failure of ours', async (path, rest) => {
    lines.length = 0
    const socket = connect(port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.write(`${half(path)}\r\n${rest}`, () => resolve()))
    await sleep(100)
    socket.destroy()
    await sleep(200)
    expect(lines.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
    expect(lines.join('')).not.toContain('"status":503')
    expect(await app.metrics.text()).not.toMatch(/status="503"/)
  })
})
