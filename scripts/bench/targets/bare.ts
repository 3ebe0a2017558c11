/** `node:http` or Hono, with one statement of postgres.js for each operation: no limits, no validation, no log. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { newId } from '#runtime/values/ids'
import type { Fixture } from '../operations.ts'
import { serveParent } from '../processes.ts'
import { openClients, texts, toEtag } from './statements.ts'

interface Answer {
  status: 200 | 201
  text: string
  etag?: string
}

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const clients = openClients(fixture.databaseUrl, fixture.clients)
const stores = new Map(fixture.shops.map(({ key, storeId }) => [`Bearer ${key}`, storeId]))

async function run(text: string, authorization: string | undefined, ...values: unknown[]): Promise<string> {
  // Looked up in memory, as if the key had been checked before.
  const storeId = stores.get(authorization ?? '')
  const [row] = await clients.query<{ text: string }>(text, [storeId, ...values])
  return row!.text
}
async function read(authorization: string | undefined, id: string): Promise<Answer> {
  const text = await run(texts.read, authorization, id)
  return { status: 200, text, etag: toEtag(text) }
}
async function list(authorization: string | undefined): Promise<Answer> {
  return { status: 200, text: await run(texts.list, authorization, 20, 0) }
}
async function create(authorization: string | undefined, body: string): Promise<Answer> {
  const { phone, note } = JSON.parse(body) as { phone: string; note: string }
  const now = new Date()
  return { status: 201, text: await run(texts.create, authorization, newId(now.getTime()), phone, note, now) }
}

const lists = '/v1/campaigns/lists'
const optOuts = '/v1/campaigns/opt-outs'

function nodeServer(): Server {
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { authorization } = request.headers
    if (request.url!.startsWith(lists)) return read(authorization, request.url!.slice(lists.length + 1))
    if (request.method === 'POST') return create(authorization, await readText(request))
    return list(authorization)
  }
  return createServer((request, response) => {
    answer(request).then(
      ({ status, text, etag }) => {
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
        response.writeHead(status, etag ? { ...headers, etag } : headers).end(text)
      },
      (error) => response.destroy(error),
    )
  })
}

function honoServer(): Server {
  const app = new Hono()
  const send = (c: Context, { status, text, etag }: Answer): Response =>
    c.body(text, status, { 'content-type': 'application/json', ...(etag ? { etag } : {}) })
  const keyOf = (c: Context): string | undefined => c.req.header('authorization')
  app.get(`${lists}/:id`, async (c) => send(c, await read(keyOf(c), c.req.param('id'))))
  app.get(optOuts, async (c) => send(c, await list(keyOf(c))))
  app.post(optOuts, async (c) => send(c, await create(keyOf(c), await c.req.text())))
  return createAdaptorServer({ fetch: app.fetch }) as Server
}

const server = process.argv[3] === 'hono' ? honoServer() : nodeServer()
server.listen(0, '127.0.0.1')
await serveParent(server, async () => {
  server.close()
  server.closeIdleConnections()
  await clients.close()
})
