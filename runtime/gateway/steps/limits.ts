/** How many requests an address and a store may send. A limit comes before every other refusal. */
import { Refusal } from '#runtime/errors'
import type { Call } from '../call.ts'
import type { RateLimiter, Verdict } from '../rate-limit.ts'

export function limitAddress(call: Call): Promise<void> | void {
  if (call.request.isCounted) return
  return limit(call, call.gateway.addresses, call.request.ip, 'this address')
}

export function limitStore(call: Call): Promise<void> | void {
  if (!call.access) return
  return limit(call, call.gateway.stores, call.access.storeId, 'this store')
}

function limit(call: Call, limiter: RateLimiter, key: string, whose: string): Promise<void> | void {
  const verdict = limiter.hit(key, call.now)
  if (!(verdict instanceof Promise)) return limited(call, verdict, whose)
  if (!call.operation?.spec.readOnly) return verdict.then((late) => limited(call, late, whose))
  // Counted in the same round trip as the read itself.
  verdict.catch(() => undefined) // settleCounts waits for it, and throws what it threw
  call.counting ??= []
  call.counting.push({ verdict, whose })
}

export async function settleCounts(call: Call): Promise<void> {
  for (const { verdict, whose } of call.counting!) limited(call, await verdict, whose)
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
