/** Routes below `/storefront/:publicId`: what shoppers' browsers call, without a key, from any site. */
import type { Context, SystemContext } from '#runtime/context'
import { Refusal, refuse } from '#runtime/errors'
import { Claim, idempotencyKey, once, requestHash, type StoredAnswer } from '#runtime/gateway/idempotency'
import { type Page, type PageRequest, page } from '#runtime/page'
import type { z } from '#runtime/schema'
import { sign } from '#runtime/secrets'
import { type PeopleWords, refusedPage } from './shopper-page.ts'
import { findVisited, type Visited } from './visited.ts'

const bodyAtMost = 32 * 1024
const hourMs = 3_600_000
const storeWritesAMinute = 1_200
const eventCallsAMinute = 60

export interface Visit {
  params: Record<string, string>
  /** Stands for the address at this store; it is kept nowhere. */
  visitor: string
  /** Whether a person opened it or sent its form: HTML then, JSON otherwise. */
  isPerson: boolean
  /** Whether a person opened it: HTML then, JSON otherwise. */
  wantsHtml: boolean
  /** Whether a page's form was sent, and no script's JSON. */
  isForm: boolean
  header(name: string): string | null
  /** What the store may use now; nothing while its subscription may not write. */
  features: ReadonlySet<string>
  /** Another one whenever something of what the storefront shows may be another. */
  stamp: string
  /** Of settings and of the catalog's mirror, for an ETag. */
  revision: string
  /** The query, refused with a 400 that names the field. */
  query<S extends z.ZodTypeAny>(schema: S): z.infer<S>
  /** The JSON body (32 KiB), refused with a 400 that names the field. */
  body<S extends z.ZodTypeAny>(schema: S): Promise<z.infer<S>>
  /** The filled fields of a form without files. */
  fields: PageRequest['fields']
  /** A form with its files. */
  filledForm: PageRequest['filledForm']
  /** Counts an accepted capture: 20 an hour and address unless set otherwise, then 429. */
  accepted(): Promise<void>
  /** Counts one of at most `limit` in a window of its own, then 429. */
  limit(name: string, limit: number, windowMs: number): Promise<void>
}

type StorefrontPage = StorefrontRoute &
  (
    | {
        /** Which limit counts. */
        kind: 'read' | 'write' | 'events'
        people?: PeopleWords
      }
    | {
        /** Behind a link in a message, read or answered by a person. */
        kind: 'link'
        /** Shoppers open it: whatever is refused them is a page too, in these words. */
        people: PeopleWords
      }
  )

interface StorefrontRoute {
  method: 'GET' | 'POST'
  /** Below `/storefront/:publicId`. */
  path: string
  description: string
  trust: string
  /** Of the plan; null: for every store. */
  feature: string | null
  /** The answer to scripts where the store is unknown or may not use the feature, instead of a 404. */
  missing?: () => Response
  handler(ctx: Context, visit: Visit): Promise<Response> | Response
}

/** A page of the storefront: store, plan and limits are looked after. */
export function storefrontPage(spec: StorefrontPage): Page {
  const { method, description, trust } = spec
  return page({
    method,
    path: `/storefront/:publicId${spec.path}`,
    description,
    trust,
    cors: true,
    forPeople: spec.people !== undefined,
    async handler(system, request) {
      const visiting = findVisited(system, request.params.publicId!)
      const isPerson = request.wantsHtml || request.isForm
      try {
        return await answer(system, request, visiting)
      } catch (error) {
        if (!spec.people || !isPerson || !(error instanceof Refusal)) throw error
        return refusedPage((await visiting)?.ctx.store.locale ?? 'en', error, spec.people)
      }
    },
  })

  async function answer(
    system: SystemContext,
    request: PageRequest,
    visiting: Promise<Visited | null>,
  ): Promise<Response> {
    // Shoppers of many stores share an address of their carrier's: each store counts its own.
    const visitor = sign(system.settings, 'storefront-address', `${request.params.publicId} ${request.ip}`)
    const [visited] = await Promise.all([visiting, countRequest(system, spec.kind, visitor)])
    if (!visited) {
      const address = sign(system.settings, 'storefront-address', request.ip)
      await allow(system, 'storefront-unknown', address, system.settings.storefrontReadsIp)
    }
    if (!visited || (spec.feature !== null && !visited.features.has(spec.feature))) {
      if (spec.missing) return spec.missing()
      throw refuse('not_found', 'There is nothing here')
    }
    if (spec.kind === 'write' || spec.kind === 'events') {
      await allow(system, 'storefront-store', visited.ctx.store.id, storeWritesAMinute)
    }
    const handle = (ctx: Context) => spec.handler(ctx, visitOf(system, request, visitor, visited))
    return method === 'POST' ? oncePerKey(visited.ctx, request, spec.path, handle) : handle(visited.ctx)
  }
}

/** Keys of ours are random: who wrote one is known by it, so that no visitor meets another's. */
const keyAtLeast = 16

/** Every write of the storefront: with an `Idempotency-Key`, however often it is sent, it is done and answered once. */
async function oncePerKey(
  ctx: Context,
  request: PageRequest,
  path: string,
  handle: (ctx: Context) => Promise<Response> | Response,
): Promise<Response> {
  const key = idempotencyKey(request.header('idempotency-key') ?? undefined, keyAtLeast)
  if (key === null) return handle(ctx)
  const { address, body } = await request.sent(bodyAtMost)
  // No key of an operation has a space in it: those and these never meet.
  const claim = new Claim(`storefront ${path} ${key}`, requestHash(request.method, address, body))
  const { answer, isReplayed } = await once(ctx, claim, async (held) => storable(await handle(held)))
  return new Response(answer.body === '' ? null : answer.body, {
    status: answer.status,
    headers: { ...answer.headers, ...(isReplayed ? { 'idempotency-replayed': 'true' } : {}) },
  })
}

const storable = async (response: Response): Promise<StoredAnswer> => ({
  status: response.status,
  body: await response.text(),
  headers: Object.fromEntries(response.headers),
})

function visitOf(
  system: SystemContext,
  request: PageRequest,
  visitor: string,
  { features, stamp, revision }: Visited,
): Visit {
  return {
    params: request.params,
    visitor,
    features,
    stamp,
    revision,
    wantsHtml: request.wantsHtml,
    isForm: request.isForm,
    isPerson: request.method === 'GET' ? request.wantsHtml : request.isForm,
    header: (name) => request.header(name),
    query: (schema) => request.query(schema),
    body: (schema) => request.json(schema, bodyAtMost),
    fields: (atMost = bodyAtMost) => request.fields(atMost),
    filledForm: (atMost) => request.filledForm(atMost),
    accepted: () =>
      allow(system, 'storefront-accepted', visitor, system.settings.storefrontAcceptedIp, hourMs),
    limit: (name, limit, windowMs) => allow(system, name, visitor, limit, windowMs),
  }
}

async function countRequest(system: SystemContext, kind: StorefrontPage['kind'], visitor: string) {
  const { storefrontReadsIp, storefrontWritesIp } = system.settings
  if (kind === 'events') await allow(system, 'storefront-events', visitor, eventCallsAMinute)
  else if (kind === 'write') await allow(system, 'storefront-writes', visitor, storefrontWritesIp)
  else await allow(system, 'storefront-reads', visitor, storefrontReadsIp)
}

async function allow(system: SystemContext, name: string, key: string, limit: number, windowMs?: number) {
  const verdict = await system.services.limits.hit(name, key, limit, windowMs)
  if (verdict.allowed) return
  throw new Refusal('rate_limited', 'Too many requests: try again later', {
    'retry-after': String(verdict.resetSeconds),
  })
}
