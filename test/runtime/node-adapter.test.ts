/** Requests below `/v1` over a real socket: answered as in process, where most tests run. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { requestListener } from '#runtime/http/node-adapter'
import { serverOptions } from '#runtime/server/server'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const app = await testApp()
const shop = await store(app)
const reader = await shop.key_(['platform:read'])

const server = createServer(serverOptions, requestListener(app.fetch, app.services.log, 'localhost'))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
whenFileEnds(() => new Promise<void>((resolve) => void server.close(() => resolve())))
const { port } = server.address() as AddressInfo

interface Sent {
  status: number
  headers: Record<string, string>
  body: string
}

/** The response to this text, up to the end of the connection. */
function send(lines: string[], body: string | Buffer = ''): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('end', () => {
      const [head, ...rest] = text.split('\r\n\r\n')
      const [first, ...fields] = head!.split('\r\n')
      const headers = Object.fromEntries(
        fields.map((field) => {
          const colon = field.indexOf(':')
          return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
        }),
      )
      resolve({ status: Number(first!.split(' ')[1]), headers, body: rest.join('\r\n\r\n') })
    })
    socket.write(`${[...lines, 'Host: localhost', 'Connection: close'].join('\r\n')}\r\n\r\n`)
    socket.write(body)
  })
}

/** The answer to the same request without a socket. */
async function inProcess([first, ...fields]: string[], body: string | Buffer = ''): Promise<Response> {
  const [method, target] = first!.split(' ') as [string, string]
  const headers = new Headers(fields.map((field) => field.split(': ') as [string, string]))
  const isChunked = headers.has('transfer-encoding')
  const text = isChunked ? String(body).split('\r\n')[1]! : body
  return app.fetch(
    new Request(new URL(target, 'http://localhost'), {
      method,
      headers,
      ...(method === 'POST' ? { body: text } : {}),
    }),
    { ip: '127.0.0.1' },
  )
}

const auth = `Authorization: Bearer ${shop.key}`
const withBody = (text: string) => [
  'Content-Type: application/json',
  `Content-Length: ${Buffer.byteLength(text)}`,
]
const phone = () =>
  JSON.stringify({ phone: `+55119${String(Math.floor(Math.random() * 1e8)).padStart(8, '7')}` })
const post = (body: string, key = auth): [string[], string] => [
  ['POST /v1/campaigns/opt-outs HTTP/1.1', key, ...withBody(body)],
  body,
]

const cases: [what: string, status: number, request: () => [string[], (string | Buffer)?]][] = [
  ['a list', 200, () => [['GET /v1/campaigns/opt-outs?limit=5 HTTP/1.1', auth]]],
  ['percent-encoding in the query', 200, () => [['GET /v1/campaigns/opt-outs?search=%2B55 HTTP/1.1', auth]]],
  [
    'percent-encoding of what is fixed in the path',
    404,
    () => [['GET /v1/%63ampaigns/opt-outs HTTP/1.1', auth]],
  ],
  ['an absolute address', 200, () => [['GET http://localhost/v1/campaigns/opt-outs HTTP/1.1', auth]]],
  ['HEAD', 200, () => [['HEAD /v1/campaigns/opt-outs HTTP/1.1', auth]]],
  ['an unknown address', 404, () => [['GET /v1/nothing HTTP/1.1', auth]]],
  ['the root of the API', 404, () => [['GET /v1 HTTP/1.1', auth]]],
  ['an address that only begins alike', 404, () => [['GET /v1x HTTP/1.1', auth]]],
  ['a slash too many', 404, () => [['GET /v1/campaigns/opt-outs/ HTTP/1.1', auth]]],
  ['a parameter that is no text', 400, () => [['GET /v1/campaigns/%ff HTTP/1.1', auth]]],
  ['a parameter with a control character', 400, () => [[`GET /v1/campaigns/${newId(1)}%00 HTTP/1.1`, auth]]],
  ['a query that is no text', 400, () => [['GET /v1/campaigns/opt-outs?search=%ff HTTP/1.1', auth]]],
  ['no key', 401, () => [['GET /v1/campaigns/opt-outs HTTP/1.1']]],
  ['a create', 201, () => post(phone())],
  [
    'a create in chunks',
    201,
    () => {
      const body = phone()
      const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      return [['POST /v1/campaigns/opt-outs HTTP/1.1', auth, 'Transfer-Encoding: chunked'], chunked]
    },
  ],
  ['a missing scope, its body unread', 403, () => post(phone(), `Authorization: Bearer ${reader}`)],
  ['no body', 400, () => [['POST /v1/campaigns/opt-outs HTTP/1.1', auth]]],
  ['a body that is no JSON', 400, () => post('{"phone":')],
  [
    'a body of another encoding',
    400,
    () => [['POST /v1/campaigns/opt-outs HTTP/1.1', auth, 'Content-Length: 1'], Buffer.from([0xff])],
  ],
  [
    'a body announced too large',
    413,
    () => [['POST /v1/campaigns/opt-outs HTTP/1.1', auth, `Content-Length: ${15 * 1024 * 1024 + 1}`]],
  ],
]

describe('a request over a socket is answered as in process', () => {
  test.each(cases)('%s', async (_what, status, request) => {
    const one = await send(...request())
    const other = await inProcess(...request())
    expect([one.status, other.status]).toEqual([status, status])
    const ofSockets = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']
    const names = Object.keys(one.headers).filter((name) => !ofSockets.includes(name))
    expect(names.sort()).toEqual([...other.headers.keys()].sort())
    if (status >= 400) expect(one.body).toBe(await other.text())
  })
})

test('one connection carries several requests, also after refusals with an unread body', async () => {
  const [lines, body] = post(phone(), `Authorization: Bearer ${reader}`)
  const refused = `${[...lines, 'Host: localhost'].join('\r\n')}\r\n\r\n${body}`
  const last = ['GET /v1/campaigns/opt-outs HTTP/1.1', auth]
  const answer = await send([refused + last[0]!, auth])
  expect(answer.status).toBe(403)
  expect(answer.body).toContain('HTTP/1.1 200 OK')
})

test.each([
  [60, 2],
  [60_000, 300],
  [600_000, 2],
])(
  'a body of %i bytes, each part after %i ms, may follow its refusal, and another request the body',
  async (size, pauseMs) => {
    const socket = connect(port, '127.0.0.1')
    const answers: string[] = []
    const received = (count: number): Promise<void> =>
      new Promise((resolve, reject) => {
        socket.on('error', reject)
        socket.on('data', () => {
          if (answers.join('').split('HTTP/1.1 ').length > count) resolve()
        })
      })
    socket.on('data', (chunk) => answers.push(String(chunk)))
    const lines = [
      'POST /v1/campaigns/opt-outs HTTP/1.1',
      `Authorization: Bearer ${reader}`,
      'Host: localhost',
    ]
    socket.write(`${[...lines, `Content-Length: ${size}`].join('\r\n')}\r\n\r\n`)
    await received(1)
    for (let sent = 0; sent < size; sent += 20_000) {
      socket.write('x'.repeat(Math.min(20_000, size - sent)))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    socket.write(`GET /v1/campaigns/opt-outs HTTP/1.1\r\n${auth}\r\nHost: localhost\r\n\r\n`)
    await received(2)
    socket.destroy()
    expect(answers.join('')).toMatch(/^HTTP\/1.1 403.+}HTTP\/1.1 200 OK/s)
  },
)

test('a body may arrive in pieces, cut within a character, followed by the next request', async () => {
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(phone()), note: 'não, obrigado 🎉' }))
  const head = [
    `POST /v1/campaigns/opt-outs HTTP/1.1`,
    auth,
    `Content-Length: ${body.length}`,
    'Host: localhost',
  ]
  const answers = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('end', () => resolve(text))
    const next = `GET /v1/campaigns/opt-outs HTTP/1.1\r\n${auth}\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const pieces = [Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ...[...body].map((byte) => Buffer.of(byte))]
    const write = (): void => {
      const piece = pieces.shift()
      if (piece) socket.write(piece, () => setImmediate(write))
      else socket.write(next)
    }
    write()
  })
  expect(answers).toMatch(/^HTTP\/1.1 201 Created/)
  expect(answers).toContain('não, obrigado 🎉')
  expect(answers).toContain('HTTP/1.1 200 OK')
})

test('a client that leaves in the middle of its body harms nobody', async () => {
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /v1/campaigns/opt-outs HTTP/1.1\r\nHost: localhost\r\n${auth}\r\nContent-Length: 1000\r\n\r\n{"phone"`,
      () => {
        socket.destroy()
        resolve()
      },
    )
  })
  expect((await send(['GET /v1/campaigns/opt-outs HTTP/1.1', auth])).status).toBe(200)
})
