/** Rate limits of addresses and stores. A limit takes precedence over every other refusal. */
import { ApiError } from '#runtime/errors'
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
    applyVerdict(call, verdict, whose)
    return
  }
  // A read goes on while the request is counted; a write awaits all counts together before it begins.
  verdict.catch(() => undefined) // `awaitCounts` awaits it and throws its error
  call.pendingCounts ??= []
  call.pendingCounts.push({ verdict, whose })
}

/** Awaits the counts of a write before it runs: a request above the limit must not write anything. */
export function awaitCountsBeforeWrite(call: Call): Promise<void> | void {
  if (call.pendingCounts && !call.operation!.spec.readOnly) return awaitCounts(call)
}

export async function awaitCounts(call: Call): Promise<void> {
  for (const { verdict, whose } of call.pendingCounts!) applyVerdict(call, await verdict, whose)
  call.pendingCounts = null
}

/** Returns the limit's refusal instead of `error` if a limit is exceeded, even if its count arrived later. */
export async function preferLimitError(call: Call, error: unknown): Promise<unknown> {
  try {
    await awaitCounts(call)
    return error
  } catch (limit) {
    return limit
  }
}

function applyVerdict(call: Call, verdict: Verdict, whose: string): void {
  call.verdict = verdict
  if (verdict.allowed) return
  throw new ApiError(
    'rate_limited',
    `More than ${verdict.limit} requests a minute from ${whose}: wait ${verdict.resetSeconds} seconds`,
    { 'retry-after': String(verdict.resetSeconds) },
  )
}

/** Also sets the headers of draft-ietf-httpapi-ratelimit-headers-10, which name the limit that counted last. */
export function setLimitHeaders(headers: Record<string, string>, verdict: Verdict | null): void {
  if (!verdict) return
  const { policy, limit, windowSeconds, remaining, resetSeconds } = verdict
  headers['ratelimit-limit'] = String(limit)
  headers['ratelimit-remaining'] = String(remaining)
  headers['ratelimit-reset'] = String(resetSeconds)
  headers['ratelimit-policy'] = `"${policy}";q=${limit};w=${windowSeconds}`
  headers.ratelimit = `"${policy}";r=${remaining};t=${resetSeconds}`
}
