/** Hono and postgres.js without anything else: no key, no limits, no validation, no log. */
import { readFileSync } from 'node:fs'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { serveParent } from '../child.ts'
import type { Fixture } from '../kinds.ts'
import { forbidden, openWork, type Told, unknown } from './work.ts'

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const work = openWork(fixture)
const app = new Hono<{ Variables: { storeId: string } }>()

const send = (c: Context, { status, text, etag }: Told): Response => {
  const headers = { 'content-type': 'application/json', ...(etag ? { etag } : {}) }
  return status === 304 ? c.body(null, 304, headers) : c.body(text, status as ContentfulStatusCode, headers)
}

app.use(async (c, next): Promise<Response | undefined> => {
  const storeId = work.storeOf(c.req.header('authorization'))
  if (storeId === undefined) return send(c, unknown)
  c.set('storeId', storeId)
  await next()
})
app.get('/v1/campaigns/lists/:id', async (c) =>
  send(c, await work.read(c.get('storeId'), c.req.param('id'), c.req.header('if-none-match'))),
)
app.put('/v1/campaigns/lists/:id', async (c) =>
  send(c, await work.rename(c.get('storeId'), c.req.param('id'), await c.req.text())),
)
app.get('/v1/campaigns/opt-outs', async (c) =>
  send(c, await work.list(c.get('storeId'), c.req.query('search') ?? null)),
)
app.post('/v1/campaigns/opt-outs', async (c) => {
  if (!work.mayWrite(c.req.header('authorization'))) return send(c, forbidden)
  return send(c, await work.create(c.get('storeId'), await c.req.text()))
})

const server = createAdaptorServer({ fetch: app.fetch })
server.listen(0, '127.0.0.1')
await serveParent(server, async () => {
  server.close()
  await work.close()
})
