/** How many requests an address and a store may send. A limit comes before every other refusal. */
import { Refusal } from '#runtime/errors'
import type { Call } from '../call.ts'
import type { RateLimiter, Verdict } from '../rate-limit.ts'

export function limitAddress(call: Call): void {
  if (call.request.isCounted) return
  limit(call, call.gateway.addresses, call.request.ip, 'this address')
}

export function limitStore(call: Call): void {
  if (!call.access) return
  limit(call, call.gateway.stores, call.access.storeId, 'this store')
}

function limit(call: Call, limiter: RateLimiter, key: string, whose: string): void {
  const verdict = limiter.hit(key, call.now)
  if (!(verdict instanceof Promise)) {
    limited(call, verdict, whose)
    return
  }
  // A read goes on meanwhile; whatever else does waits before it begins, for all counts at once.
  verdict.catch(() => undefined) // settleCounts waits for it, and throws what it threw
  call.counting ??= []
  call.counting.push({ verdict, whose })
}

/** Nothing is done for a request that comes to be refused. */
export function settleBeforeWrite(call: Call): Promise<void> | void {
  if (call.counting && !call.operation!.spec.readOnly) return settleCounts(call)
}

export async function settleCounts(call: Call): Promise<void> {
  for (const { verdict, whose } of call.counting!) limited(call, await verdict, whose)
  call.counting = null
}

/** A limit comes before every other refusal, also where its count was slower. */
export async function overruled(call: Call, error: unknown): Promise<unknown> {
  try {
    await settleCounts(call)
    return error
  } catch (limit) {
    return limit
  }
}

function limited(call: Call, verdict: Verdict, whose: string): void {
  call.verdict = verdict
  if (verdict.allowed) return
  throw new Refusal(
    'rate_limited',
    `More than ${verdict.limit} requests a minute from ${whose}: wait ${verdict.resetSeconds} seconds`,
    { 'retry-after': String(verdict.resetSeconds) },
  )
}

export function tellLimit(headers: Record<string, string>, verdict: Verdict | null): void {
  if (!verdict) return
  headers['ratelimit-limit'] = String(verdict.limit)
  headers['ratelimit-remaining'] = String(verdict.remaining)
  headers['ratelimit-reset'] = String(verdict.resetSeconds)
}
