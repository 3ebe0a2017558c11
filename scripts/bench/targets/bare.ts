/**
 * Hono and postgres.js without anything else: no key, no limits, no validation, no log. The statement is the
 * gateway's own and the database makes the JSON, so what remains of a difference is the price of the gateway's checks.
 */
import { readFileSync } from 'node:fs'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { newId } from '#runtime/values/ids'
import { serveParent } from '../child.ts'
import type { Fixture } from '../kinds.ts'
import { filler } from '../statements.ts'
import { openClients } from './clients.ts'

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const { statements, shops } = fixture
/** Looked up and no more: whose request it is, as somebody before it would say. */
const storeIds = new Map(shops.map(({ key, storeId }) => [`Bearer ${key}`, storeId]))
const readers = new Set(shops.map(({ readingKey }) => `Bearer ${readingKey}`))
const storeOf = (c: Context): string => storeIds.get(c.req.header('authorization')!)!
const clients = openClients(fixture.databaseUrl, fixture.clients)
const json = { 'content-type': 'application/json' }
const refusal = { error: { code: 'forbidden', message: 'This key lacks the permission platform:write' } }
const app = new Hono()

if (statements.read) {
  const { text, planOnce } = statements.read
  const fill = filler(statements.read)
  app.get('/v1/campaigns/lists/:id', async (c) => {
    const [row] = await clients.query<{ text: string }>(
      text,
      fill({ storeId: storeOf(c), id: c.req.param('id') }),
      planOnce,
    )
    return c.body(row!.text, 200, json)
  })
}
if (statements.list) {
  const { text, planOnce } = statements.list
  const fill = filler(statements.list)
  app.get('/v1/campaigns/opt-outs', async (c) => {
    const [row] = await clients.query<{ text: string }>(text, fill({ storeId: storeOf(c) }), planOnce)
    return c.body(row!.text, 200, json)
  })
}
app.post('/v1/campaigns/opt-outs', (c): Response | Promise<Response> => {
  if (readers.has(c.req.header('authorization')!)) return c.json(refusal, 403)
  return create(c)
})
const fillCreate = statements.create && filler(statements.create)
async function create(c: Context): Promise<Response> {
  const { phone, note } = await c.req.json<{ phone: string; note: string }>()
  const now = new Date()
  const parameters = fillCreate!({ storeId: storeOf(c), newId: newId(now.getTime()), now, phone, note })
  const [row] = await clients.query<{ text: string }>(statements.create!.text, parameters)
  return c.body(row!.text, 201, json)
}

const server = createAdaptorServer({ fetch: app.fetch })
server.listen(0, '127.0.0.1')
await serveParent(server, async () => {
  server.close()
  await clients.close()
})
