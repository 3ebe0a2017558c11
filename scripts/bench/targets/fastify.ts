/**
 * Fastify as it is usually put together: a hook that looks up the key, @fastify/rate-limit, JSON Schema for what
 * comes in and what goes out, @fastify/swagger. It does what the operation does, and does not log, which the gateway
 * does.
 */
import { readFileSync } from 'node:fs'
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { newId, sha256 } from '#runtime/values/ids'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { serveParent } from '../child.ts'
import type { Fixture } from '../kinds.ts'
import { openClients } from './clients.ts'
import { contactList, errorSchema, optOut, optOutInput, optOutPage, paging, texts } from './fastify-parts.ts'

interface Holder {
  storeId: string
  scopes: Set<string>
}

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const { statements } = fixture
const clients = openClients(fixture.databaseUrl, fixture.clients)
const app = Fastify()
const leaseMs = 500
const known = new Map<string, { holder: Holder; until: number }>()
const holders = new WeakMap<FastifyRequest, Holder>()

async function holderOf(key: string): Promise<Holder | null> {
  const hash = sha256(key)
  const remembered = known.get(hash)
  if (remembered && performance.now() < remembered.until) return remembered.holder
  const [row] = await clients.query<{ store_id: string; scopes: string[] }>(texts.key, [hash])
  if (!row) return null
  const holder = { storeId: row.store_id, scopes: new Set(row.scopes) }
  known.set(hash, { holder, until: performance.now() + leaseMs })
  return holder
}

const needs = (scope: string) => async (request: FastifyRequest, reply: FastifyReply) => {
  const holder = await holderOf(request.headers.authorization?.slice(7) ?? '')
  if (!holder) {
    return reply.code(401).send({ error: { code: 'unauthorized', message: 'The API key is unknown' } })
  }
  if (!holder.scopes.has(scope)) {
    return reply
      .code(403)
      .send({ error: { code: 'forbidden', message: `This key lacks the permission ${scope}` } })
  }
  holders.set(request, holder)
}

await app.register(swagger, { openapi: { info: { title: 'Peer', version: '1.0.0' } } })
await app.register(rateLimit, { max: 999_999_999, timeWindow: '1 minute' })

app.get<{ Params: { id: string } }>(
  '/v1/campaigns/lists/:id',
  {
    onRequest: needs('platform:read'),
    schema: {
      params: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      response: { 200: contactList, '4xx': errorSchema },
    },
  },
  async (request, reply) => {
    const { storeId } = holders.get(request)!
    const [row] = await clients.query(texts.read, [storeId, request.params.id], statements.read?.planOnce)
    return row ?? reply.code(404).send({ error: { code: 'not_found', message: 'No such list' } })
  },
)

app.get<{ Querystring: { page: number; limit: number } }>(
  '/v1/campaigns/opt-outs',
  {
    onRequest: needs('platform:read'),
    schema: { querystring: paging, response: { 200: optOutPage, '4xx': errorSchema } },
  },
  async (request) => {
    const { page, limit } = request.query
    const { storeId } = holders.get(request)!
    const data = await clients.query<{ total: number }>(
      texts.list,
      [storeId, limit, (page - 1) * limit],
      statements.list?.planOnce,
    )
    return { data, page, limit, total: data[0]?.total ?? 0 }
  },
)

app.post<{ Body: { phone: string; note?: string } }>(
  '/v1/campaigns/opt-outs',
  {
    onRequest: needs('platform:write'),
    schema: { body: optOutInput, response: { 201: optOut, '4xx': errorSchema } },
  },
  async (request, reply) => {
    const { note } = request.body
    const { storeId } = holders.get(request)!
    // The operation takes a phone in any spelling, so whoever implements it has to parse it.
    const phone = parsePhone(request.body.phone, 'BR')
    if (!phone) {
      return reply.code(400).send({ error: { code: 'bad_request', message: 'phone: is not a phone number' } })
    }
    const now = new Date()
    const [row] = await clients.query(texts.create, [
      storeId,
      newId(now.getTime()),
      phone,
      phoneKey(phone),
      note ?? null,
      now,
    ])
    if (row) return reply.code(201).send(row)
    return reply.code(409).send({ error: { code: 'conflict', message: 'The phone is opted out already' } })
  },
)

await app.listen({ host: '127.0.0.1', port: 0 })
await serveParent(app.server, async () => {
  await app.close()
  await clients.close()
})
