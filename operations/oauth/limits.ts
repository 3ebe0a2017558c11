/** How often an address may ask. Hosted assistants ask for all of their users from a few addresses. */

import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refusal } from '#runtime/errors'

const limits = {
  /** Pages of people. */
  authorize: { limit: 60, windowMs: minuteMs },
  /** Keys that were typed, right or wrong: they are not guessed here. */
  keys: { limit: 10, windowMs: 10 * minuteMs },
  tokens: { limit: 300, windowMs: minuteMs },
  registrations: { limit: 60, windowMs: 60 * minuteMs },
} as const

/** All addresses together: each leaves a row behind. */
const registrationsAnHour = 1000

/** Counts one; refuses beyond the limit, with the seconds to wait. */
export async function limit(ctx: SystemContext, what: keyof typeof limits, ip: string): Promise<void> {
  const { limit: atMost, windowMs } = limits[what]
  await count(ctx, `oauth-${what}`, ip, atMost, windowMs)
}

export async function limitRegistrations(ctx: SystemContext, ip: string): Promise<void> {
  await limit(ctx, 'registrations', ip)
  await count(ctx, 'oauth-registrations-all', 'all', registrationsAnHour, 60 * minuteMs)
}

async function count(ctx: SystemContext, name: string, key: string, atMost: number, windowMs: number) {
  const verdict = await ctx.services.limits.hit(name, key, atMost, windowMs)
  if (verdict.allowed) return
  const wait = String(verdict.resetSeconds)
  throw new Refusal('rate_limited', `Too many requests from this address: wait ${wait} seconds`, {
    'retry-after': wait,
  })
}
