/**
 * A usual Fastify setup: a hook that looks up the key, @fastify/rate-limit with a store in PostgreSQL, JSON Schema for
 * requests. `fastify` counts only by key and does not log; `guarded` has the gateway's guards: it counts by address
 * too, and logs each request.
 */
import { readFileSync } from 'node:fs'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { newId, sha256 } from '#runtime/values/ids'
import { parsePhone } from '#runtime/values/phone'
import type { Fixture } from '../operations.ts'
import { serveParent } from '../processes.ts'
import { openClients, texts, toEtag } from './statements.ts'

interface Holder {
  storeId: string
  scopes: Set<string>
}

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const isGuarded = process.argv[3] === 'guarded'
const clients = openClients(fixture.databaseUrl, fixture.clients)
const app = Fastify({
  trustProxy: true,
  ...(isGuarded ? { logger: { level: 'info' }, disableRequestLogging: true } : {}),
})
const leaseMs = 500
const known = new Map<string, { holder: Holder; until: number }>()
const holders = new WeakMap<FastifyRequest, Holder>()
const keyText = 'select store_id, scopes from api_keys where hash = $1 and revoked_at is null'

async function findHolder(key: string): Promise<Holder | null> {
  const hash = sha256(key)
  const cached = known.get(hash)
  if (cached && performance.now() < cached.until) return cached.holder
  const [row] = await clients.query<{ store_id: string; scopes: string[] }>(keyText, [hash])
  if (!row) return null
  const holder = { storeId: row.store_id, scopes: new Set(row.scopes) }
  known.set(hash, { holder, until: performance.now() + leaseMs })
  return holder
}

const refusal = (code: string, message: string) => ({ error: { code, message } })

/** Runs after the rate limit, which also counts refused requests. */
const needs = (scope: string) => async (request: FastifyRequest, reply: FastifyReply) => {
  const holder = await findHolder(request.headers.authorization?.slice(7) ?? '')
  if (!holder) return reply.code(401).send(refusal('unauthorized', 'The API key is unknown'))
  if (!holder.scopes.has(scope)) return reply.code(403).send(refusal('forbidden', `It lacks ${scope}`))
  holders.set(request, holder)
}

// As cheap as the gateway's own counters.
await clients.query(
  'create unlogged table if not exists bench_limits (key text primary key, started_at timestamptz, used int)',
  [],
)
const countText = `
  insert into bench_limits as c values ($1, now(), 1)
  on conflict (key) do update set
    used = case when c.started_at <= now() - $2::float8 * interval '1 ms' then 1 else c.used + 1 end,
    started_at = case when c.started_at <= now() - $2::float8 * interval '1 ms' then now() else c.started_at end
  returning used as current, $2::float8 - extract(epoch from now() - started_at) * 1000 as ttl`
type Count = { current: number; ttl: number }

/** A store of `@fastify/rate-limit` shared by instances: one statement per request. */
class SharedLimits {
  incr(key: string, counted: (error: Error | null, count?: Count) => void, timeWindow: number): void {
    clients.query<Count>(countText, [key, timeWindow]).then(
      ([count]) => counted(null, count),
      (error) => counted(error as Error),
    )
  }
  child() {
    return this
  }
}

const limitBy = (keyGenerator: (request: FastifyRequest) => string) =>
  app.register(rateLimit, {
    ...{ max: fixture.limit, timeWindow: '1 minute', keyGenerator, store: SharedLimits as never },
  })
if (isGuarded) {
  await limitBy(({ ip }) => ip)
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, id } = request
    const store = holders.get(request)?.storeId
    const { statusCode: status, elapsedTime: ms } = reply
    request.log.info({ requestId: id, method, operation: routeOptions.url, status, ms, store }, 'request')
  })
}
await limitBy((request) => request.headers.authorization ?? request.ip)

/** Sends the body that PostgreSQL made; undefined if there is no row. */
async function run(request: FastifyRequest, reply: FastifyReply, text: string, values: unknown[]) {
  const parameters = [holders.get(request)!.storeId, ...values]
  const [row] = await clients.query<{ text: string }>(text, parameters)
  if (row) reply.type('application/json')
  return row?.text
}

const byId = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
app.get<{ Params: { id: string } }>(
  '/v1/campaigns/lists/:id',
  { preParsing: needs('platform:read'), schema: { params: byId } },
  async (request, reply) => {
    const body = await run(request, reply, texts.read, [request.params.id])
    return body ? reply.header('etag', toEtag(body)).send(body) : reply.callNotFound()
  },
)

const paging = {
  type: 'object',
  additionalProperties: false,
  properties: {
    page: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
}
app.get<{ Querystring: { page: number; limit: number } }>(
  '/v1/campaigns/opt-outs',
  { preParsing: needs('platform:read'), schema: { querystring: paging } },
  async (request, reply) => {
    const { page, limit } = request.query
    return run(request, reply, texts.list, [limit, (page - 1) * limit])
  },
)

const optOutInput = {
  type: 'object',
  additionalProperties: false,
  required: ['phone'],
  properties: {
    phone: { type: 'string', maxLength: 40 },
    note: { type: 'string', minLength: 1, maxLength: 500 },
  },
}
app.post<{ Body: { phone: string; note?: string } }>(
  '/v1/campaigns/opt-outs',
  { preParsing: needs('platform:write'), schema: { body: optOutInput } },
  async (request, reply) => {
    // The operation accepts any spelling of a phone, so an implementation has to parse it.
    const phone = parsePhone(request.body.phone, 'BR')
    if (!phone) return reply.code(400).send(refusal('bad_request', 'phone: is not a phone number'))
    const now = new Date()
    const values = [newId(now.getTime()), phone, request.body.note ?? null, now]
    const body = await run(request, reply, texts.create, values)
    if (body === undefined) return reply.code(409).send(refusal('conflict', 'The phone is opted out already'))
    return reply.code(201).send(body)
  },
)

await app.listen({ host: '127.0.0.1', port: 0 })
await serveParent(app.server, async () => {
  await app.close()
  await clients.close()
})
