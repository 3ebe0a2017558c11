/** Defines routes below `/storefront/:publicId`. Shoppers' browsers call them, without an API key and from any site. */
import { runFor } from '#db/owner'
import type { Context, SystemContext } from '#runtime/context'
import { ApiError, refuse } from '#runtime/errors'
import { Claim, hashRequest, idempotencyKey, runOnce } from '#runtime/gateway/idempotency'
import { type Page, type PageRequest, page } from '#runtime/page'
import { sign } from '#runtime/secrets'
import { type FormPage, redrawForm } from './refused-form.ts'
import { renderRefusedPage, type ShopperTexts } from './shopper-page.ts'
import { toAnswer, toResponse } from './stored-response.ts'
import { buildVisit, enforceLimit, maxBodyBytes, type Visit } from './visit.ts'
import { findVisitedStore, type VisitedStore } from './visited-store.ts'

const storeWritesPerMinute = 1_200
const eventCallsPerMinute = 60

/** Selects the rate limit. `link` is for pages that a person opens from a link in a message. */
type Kind = 'read' | 'write' | 'events' | 'link'

type StorefrontPage = StorefrontRoute &
  (
    | { method: 'GET' | 'POST'; kind: Exclude<Kind, 'link'>; people?: undefined; form?: undefined }
    | {
        method: 'GET'
        kind: Kind
        /** Set for a page that shoppers open. Errors are then shown as pages too, with these texts. */
        people: ShopperTexts
        form?: undefined
      }
    | {
        method: 'POST'
        kind: Kind
        people: ShopperTexts
        /** How a refused form is shown again; null if the page has no form. */
        form: FormPage | null
      }
  )

interface StorefrontRoute {
  /** Path below `/storefront/:publicId`. */
  path: string
  description: string
  trust: string
  /** Feature of the plan that the route needs; null for a route of every store. */
  feature: string | null
  /** The response for scripts if the store is unknown or lacks the feature; by default a 404. */
  missing?: () => Response
  handler(ctx: Context, visit: Visit): Promise<Response> | Response
}

/** Defines a storefront route. Finds the store, checks its plan and enforces rate limits before the handler runs. */
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
      const visiting = findVisitedStore(system, request.params.publicId!)
      const isPerson = request.wantsHtml || request.isForm
      try {
        return await answer(system, request, visiting)
      } catch (error) {
        if (!spec.people || !isPerson || !(error instanceof ApiError)) throw error
        return renderRefusedPage((await visiting)?.ctx.store.locale ?? 'en', error, spec.people)
      }
    },
  })

  async function answer(
    system: SystemContext,
    request: PageRequest,
    visiting: Promise<VisitedStore | null>,
  ): Promise<Response> {
    // A carrier gives many shoppers the same IP address, so requests are counted per address and store.
    const visitor = sign(system.settings, 'storefront-address', `${request.params.publicId} ${request.ip}`)
    const [visited] = await Promise.all([visiting, countRequest(system, spec.kind, visitor)])
    if (!visited) {
      const address = sign(system.settings, 'storefront-address', request.ip)
      await enforceLimit(system, 'storefront-unknown', address, system.settings.storefrontReadsIp)
    }
    if (!visited || (spec.feature !== null && !visited.features.has(spec.feature))) {
      if (spec.missing) return spec.missing()
      throw refuse('not_found', 'There is nothing here')
    }
    if (spec.kind === 'write' || spec.kind === 'events') {
      await enforceLimit(system, 'storefront-store', visited.ctx.store.id, storeWritesPerMinute)
    }
    const visit = buildVisit(system, request, visitor, visited)
    return runFor(visited.ctx.store.id, () => answerVisit(request, visited, visit))
  }

  async function answerVisit(request: PageRequest, visited: VisitedStore, visit: Visit): Promise<Response> {
    const handle = (ctx: Context) => spec.handler(ctx, visit)
    if (method === 'GET') return handle(visited.ctx)
    try {
      return await runIdempotent(visited.ctx, request, spec.path, handle)
    } catch (error) {
      if (!spec.form || !visit.isForm || !(error instanceof ApiError)) throw error
      const again = await redrawForm(visited.ctx, visit, spec.form, spec.people, error)
      if (again) return again
      throw error
    }
  }
}

/** Minimum length of an `Idempotency-Key`, so that two visitors do not use the same one. Our script's keys are random. */
const minKeyLength = 16

/** Runs a write once per `Idempotency-Key`, and replays its response to repeated requests. */
async function runIdempotent(
  ctx: Context,
  request: PageRequest,
  path: string,
  handle: (ctx: Context) => Promise<Response> | Response,
): Promise<Response> {
  const key = idempotencyKey(request.header('idempotency-key') ?? undefined, minKeyLength)
  if (key === null) return handle(ctx)
  const { address, body } = await request.readRaw(maxBodyBytes)
  // Keys of API operations contain no space, so they cannot collide with this one.
  const claim = new Claim(`storefront ${path} ${key}`, hashRequest(request.method, address, body))
  const { answer, isReplayed } = await runOnce(ctx, claim, async (held) => toAnswer(await handle(held)))
  const headers = { ...answer.headers, ...(isReplayed ? { 'idempotency-replayed': 'true' } : {}) }
  return toResponse({ ...answer, headers })
}

async function countRequest(system: SystemContext, kind: Kind, visitor: string) {
  const { storefrontReadsIp, storefrontWritesIp } = system.settings
  if (kind === 'events') await enforceLimit(system, 'storefront-events', visitor, eventCallsPerMinute)
  else if (kind === 'write') await enforceLimit(system, 'storefront-writes', visitor, storefrontWritesIp)
  else await enforceLimit(system, 'storefront-reads', visitor, storefrontReadsIp)
}
