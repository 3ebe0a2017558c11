/** Routes below `/storefront/:publicId`: what shoppers' browsers call, without a key, from any site. */
import type { Context, SystemContext } from '#runtime/context'
import { Refusal, refuse } from '#runtime/errors'
import { Claim, idempotencyKey, once, requestHash } from '#runtime/gateway/idempotency'
import { type Page, type PageRequest, page } from '#runtime/page'
import { sign } from '#runtime/secrets'
import { responseOf, storable } from './answered.ts'
import { type FormAgain, formAgain } from './form-again.ts'
import { type PeopleWords, refusedPage } from './shopper-page.ts'
import { allow, bodyAtMost, type Visit, visitOf } from './visit.ts'
import { findVisited, type Visited } from './visited.ts'

const storeWritesAMinute = 1_200
const eventCallsAMinute = 60

/** Which limit counts; a link is behind one in a message, read or answered by a person. */
type Kind = 'read' | 'write' | 'events' | 'link'

type StorefrontPage = StorefrontRoute &
  (
    | { method: 'GET' | 'POST'; kind: Exclude<Kind, 'link'>; people?: undefined; form?: undefined }
    | {
        method: 'GET'
        kind: Kind
        /** Shoppers open it: whatever is refused them is a page too, in these words. */
        people: PeopleWords
        form?: undefined
      }
    | {
        method: 'POST'
        kind: Kind
        people: PeopleWords
        /** The page whose form it takes, for what is refused of it; null where nothing is filled in there. */
        form: FormAgain | null
      }
  )

interface StorefrontRoute {
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
    const visit = visitOf(system, request, visitor, visited)
    const handle = (ctx: Context) => spec.handler(ctx, visit)
    if (method === 'GET') return handle(visited.ctx)
    try {
      return await oncePerKey(visited.ctx, request, spec.path, handle)
    } catch (error) {
      if (!spec.form || !visit.isForm || !(error instanceof Refusal)) throw error
      const again = await formAgain(visited.ctx, visit, spec.form, spec.people, error)
      if (again) return again
      throw error
    }
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
  const headers = { ...answer.headers, ...(isReplayed ? { 'idempotency-replayed': 'true' } : {}) }
  return responseOf({ ...answer, headers })
}

async function countRequest(system: SystemContext, kind: Kind, visitor: string) {
  const { storefrontReadsIp, storefrontWritesIp } = system.settings
  if (kind === 'events') await allow(system, 'storefront-events', visitor, eventCallsAMinute)
  else if (kind === 'write') await allow(system, 'storefront-writes', visitor, storefrontWritesIp)
  else await allow(system, 'storefront-reads', visitor, storefrontReadsIp)
}
