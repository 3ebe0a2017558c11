/**
 * Rate limits per address. Limits for programs (tokens, registrations) are high, because hosted assistants send the
 * requests of all their users from a few addresses.
 */

import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'

const limits = {
  /** Limit of the pages that people open. */
  authorize: { limit: 60, windowMs: minuteMs },
  /** Limit of entered keys, right or wrong, which prevents guessing. */
  keys: { limit: 10, windowMs: 10 * minuteMs },
  tokens: { limit: 300, windowMs: minuteMs },
  registrations: { limit: 60, windowMs: 60 * minuteMs },
} as const

/** Limit over all addresses, since each registration stores a row. */
const maxRegistrationsPerHour = 1000

/** Counts a request; refuses it beyond the limit, with the seconds to wait. */
export async function limit(ctx: SystemContext, what: keyof typeof limits, ip: string): Promise<void> {
  const { limit: atMost, windowMs } = limits[what]
  await countRequest(ctx, `oauth-${what}`, ip, atMost, windowMs)
}

export async function limitRegistrations(ctx: SystemContext, ip: string): Promise<void> {
  await limit(ctx, 'registrations', ip)
  await countRequest(ctx, 'oauth-registrations-all', 'all', maxRegistrationsPerHour, 60 * minuteMs)
}

async function countRequest(ctx: SystemContext, name: string, key: string, atMost: number, windowMs: number) {
  const verdict = await ctx.services.limits.hit(name, key, atMost, windowMs)
  if (verdict.allowed) return
  const wait = String(verdict.resetSeconds)
  throw new ApiError('rate_limited', `Too many requests from this address: wait ${wait} seconds`, {
    'retry-after': wait,
  })
}
