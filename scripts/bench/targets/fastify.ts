/**
 * Fastify as it is usually put together: a hook that looks up the key, @fastify/rate-limit with a store in PostgreSQL,
 * JSON Schema for what comes in and what goes out, @fastify/swagger. It does what the operation does. As `fastify` it
 * counts by key alone and does not log; as `guarded` it has the gateway's guards: the address is counted too, and each
 * request is a line of the log.
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
import { etagOf, type Kept, limitsIn, openTransactions, type Statements } from './fastify-guards.ts'
import {
  contactList,
  errorSchema,
  nameInput,
  optOut,
  optOutInput,
  optOutPage,
  paging,
  texts,
} from './fastify-parts.ts'

interface Holder {
  storeId: string
  scopes: Set<string>
}

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const isGuarded = process.argv[3] === 'guarded'
const { statements } = fixture
const clients = openClients(fixture.databaseUrl, fixture.clients)
const transactions = openTransactions(fixture.databaseUrl)
const app = Fastify({
  trustProxy: true,
  ...(isGuarded ? { logger: { level: 'info' }, disableRequestLogging: true } : {}),
})
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

/** After the limit, which counts what is refused too. */
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
const limitBy = (keyGenerator: (request: FastifyRequest) => string) =>
  app.register(rateLimit, {
    max: fixture.limit,
    timeWindow: '1 minute',
    keyGenerator,
    store: limitsIn(clients) as never,
    errorResponseBuilder: (_request, { after }) => ({
      statusCode: 429,
      error: { code: 'rate_limited', message: `Too many requests: wait ${after}` },
    }),
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

app.get<{ Params: { id: string } }>(
  '/v1/campaigns/lists/:id',
  {
    preParsing: needs('platform:read'),
    schema: {
      params: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      response: { 200: contactList, '4xx': errorSchema },
    },
  },
  async (request, reply) => {
    const { storeId } = holders.get(request)!
    const [row] = await clients.query(texts.read, [storeId, request.params.id], statements.read?.planOnce)
    return row ? tagged(request, reply, row) : reply.code(404).send(noSuchList)
  },
)

app.put<{ Params: { id: string }; Body: { name: string } }>(
  '/v1/campaigns/lists/:id',
  {
    preParsing: needs('platform:write'),
    schema: { body: nameInput, response: { 200: contactList, '4xx': errorSchema } },
  },
  async (request, reply) => {
    const { storeId } = holders.get(request)!
    const { id } = request.params
    const ifMatch = request.headers['if-match']
    const changed = await transactions.within(async (tx) => {
      await tx(texts.lock, [storeId, id])
      if (ifMatch) {
        const [before] = await tx(texts.read, [storeId, id])
        if (!before || etagOf(JSON.stringify(before)) !== ifMatch) return null
      }
      await tx(texts.rename, [storeId, id, request.body.name, new Date()])
      const [row] = await tx(texts.read, [storeId, id])
      return row ?? null
    })
    if (changed) return tagged(request, reply, changed)
    return reply.code(409).send({ error: { code: 'conflict', message: 'It has changed since it was read' } })
  },
)

const noSuchList = { error: { code: 'not_found', message: 'No such list' } }

function tagged(request: FastifyRequest, reply: FastifyReply, row: object): object {
  const etag = etagOf(JSON.stringify(row))
  reply.header('etag', etag)
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : row
}

app.get<{ Querystring: { page: number; limit: number; search?: string } }>(
  '/v1/campaigns/opt-outs',
  {
    preParsing: needs('platform:read'),
    schema: { querystring: paging, response: { 200: optOutPage, '4xx': errorSchema } },
  },
  async (request) => {
    const { page, limit, search } = request.query
    const { storeId } = holders.get(request)!
    const values = [storeId, limit, (page - 1) * limit]
    const data = await clients.query<{ total: number }>(
      search === undefined ? texts.list : texts.search,
      search === undefined ? values : [...values, `%${search.replaceAll(/\D/g, '')}%`],
      search === undefined && statements.list?.planOnce,
    )
    return { data, page, limit, total: data[0]?.total ?? 0 }
  },
)

app.post<{ Body: { phone: string; note?: string } }>(
  '/v1/campaigns/opt-outs',
  {
    preParsing: needs('platform:write'),
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
    const create = async (run: Statements): Promise<Kept> => {
      const now = new Date()
      const values = [storeId, newId(now.getTime()), phone, phoneKey(phone), note ?? null, now]
      const [row] = await run(texts.create, values)
      return row
        ? { status: 201, body: JSON.stringify(row) }
        : { status: 409, body: JSON.stringify(isOptedOut) }
    }
    const key = request.headers['idempotency-key']
    const told =
      typeof key === 'string'
        ? await transactions.once(storeId, key, JSON.stringify(request.body), create)
        : await create((text, values) => clients.query(text, values))
    if (!told) return reply.code(409).send(usedKey)
    return reply.code(told.status).send(JSON.parse(told.body))
  },
)

const isOptedOut = { error: { code: 'conflict', message: 'The phone is opted out already' } }
const usedKey = { error: { code: 'conflict', message: 'This Idempotency-Key was used for another request' } }

await app.listen({ host: '127.0.0.1', port: 0 })
await serveParent(app.server, async () => {
  await app.close()
  await Promise.all([clients.close(), transactions.close()])
})
