/** Bodies that a client announces and sends later, only in part, or never. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { answerOtherEvents, requestListener } from '#runtime/http/node-adapter'
import { serverOptions } from '#runtime/server/server'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const app = await testApp()
const shop = await store(app)
const impatient = await testApp({ requestTimeoutMs: 500 })
const customer = await store(impatient)
const port = await listen(app)
const impatientPort = await listen(impatient)

async function listen({ fetch, services }: typeof app): Promise<number> {
  const server = createServer(serverOptions, requestListener(fetch, services.log, 'localhost'))
  answerOtherEvents(server, services.log)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return (server.address() as AddressInfo).port
}

const announce = (line: string, headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`
const expectContinue = 'Expect: 100-continue'

/** Sends `head`, then `body` after `100 Continue`. Returns all responses until the server closes the connection. */
function exchange(to: number, head: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, '127.0.0.1')
    let received = ''
    let isAsked = false
    socket.on('data', (chunk) => {
      received += chunk
      if (isAsked || !received.startsWith('HTTP/1.1 100 Continue\r\n\r\n')) return
      isAsked = true
      if (body !== undefined) socket.write(body)
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(received))
    socket.write(head)
  })
}

describe('a client that expects 100-continue', () => {
  const length = (bytes: number) => `Content-Length: ${bytes}`
  const auth = `Authorization: Bearer ${shop.key}`
  const cases: [what: string, status: number, line: string, headers: string[]][] = [
    ['a bad key', 401, 'POST /v1/campaigns/opt-outs', ['Authorization: Bearer mk_live_x', length(100)]],
    ['a body too large', 413, 'POST /v1/campaigns/opt-outs', [auth, length(15 * 1024 * 1024 + 1)]],
    ['a bad key and chunks', 401, 'POST /v1/campaigns/opt-outs', ['Transfer-Encoding: chunked']],
    ['an unknown address', 404, 'POST /nothing', [length(100)]],
    ['an assistant without a key', 401, 'POST /mcp', [length(100)]],
    ['an upload without a signature', 403, 'PUT /files/x', [length(100)]],
    ['a page whose body is too large', 413, 'POST /oauth/register', [length(15 * 1024 * 1024 + 1)]],
  ]
  test.each(cases)('is refused before its body: %s', async (_what, status, line, headers) => {
    const received = await exchange(port, announce(line, [...headers, expectContinue]))
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(received).toMatch(/\r\nconnection: close\r\n/i)
  })

  test('no write and no page asks for a body of 100 MB', async () => {
    const isWrite = ({ method }: { method: string }) => !['GET', 'HEAD'].includes(method)
    const routes = [
      ...app.registry.operations.map(({ spec }) => ({ method: spec.method, path: `/v1${spec.path}` })),
      ...app.publicRoutes.map(({ method, path }) => ({ method: method === 'ALL' ? 'POST' : method, path })),
    ].filter(isWrite)
    expect(routes.length).toBeGreaterThan(200)
    const asked: string[] = []
    for (const { method, path } of routes) {
      const line = `${method} ${path.replace(/:\w+|\*/g, 'x')}`
      const received = await exchange(port, announce(line, [auth, length(100_000_000), expectContinue]))
      if (!/^HTTP\/1.1 4\d\d /.test(received)) asked.push(`${line}: ${received.slice(0, 200)}`)
    }
    expect(asked).toEqual([])
  })

  test.each(['Content-Length', 'Transfer-Encoding'])('is asked for its body once (%s)', async (framing) => {
    const body = JSON.stringify({ phone: `+55119876543${framing.length}` })
    const [frame, sent] =
      framing === 'Content-Length'
        ? [length(body.length), body]
        : ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`]
    const next = announce('GET /v1/campaigns/opt-outs', [auth, 'Connection: close'])
    const head = announce('POST /v1/campaigns/opt-outs', [auth, frame, expectContinue])
    const received = await exchange(port, head, sent + next)
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 200'])
  })
})

describe('a client that stops sending', () => {
  const auth = `Authorization: Bearer ${customer.key}`
  test.each([
    ['POST /v1/campaigns/opt-outs', 'Content-Length: 100', '{"ph'],
    ['POST /v1/campaigns/opt-outs', 'Transfer-Encoding: chunked', '4\r\n{"ph'],
    [`POST /storefront/${customer.publicId}/events`, 'Content-Length: 100', '{"vi'],
    ['POST /mcp', 'Content-Length: 100', '{"js'],
  ])('gets a 503, and its connection is closed (%s, %s)', async (line, frame, part) => {
    const received = await exchange(impatientPort, announce(line, [auth, frame]) + part)
    expect(received).toMatch(/^HTTP\/1.1 503 /)
    expect(received).toMatch(/\r\nconnection: close\r\n/i)
    expect(received).toContain('"code":"unavailable"')
    expect(received.match(/HTTP\/1.1/g)).toHaveLength(1)
  })
})
