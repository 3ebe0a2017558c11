/** How the official number stands with its provider (rule 8). */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { numberUsage, tierLimits } from '../numbers/limit.ts'
import { isSilent } from '../numbers/provider.ts'
import { routeOfType } from '../numbers/route.ts'
import { withinTime } from '../numbers/within-time.ts'
import type { NumberHealth } from '../provider/number-port.ts'
import type { PhoneHealth } from './schema.ts'
import { lockOfficial, takeOverHealth } from './state.ts'

const freshMs = 5 * minuteMs
const answerWithinMs = 8_000

type HealthRow = Pick<
  Row<'messaging_connections'>,
  'status' | 'credentials' | 'number_id' | 'phone' | 'display_name' | 'health_at'
> & { health: NumberHealth | null }

const findHealth = prepared((db) =>
  db
    .selectFrom('messaging_connections')
    .select(['status', 'credentials', 'number_id', 'phone', 'display_name', 'health', 'health_at'])
    .where('type', '=', 'official')
    .$castTo<HealthRow>(),
)

/** Asks the provider where its last answer is older than five minutes. Refuses where there is no official number. */
export async function readHealth(ctx: Context): Promise<PhoneHealth> {
  const [row] = await findHealth(ctx, {})
  if (!row || row.status === 'none' || !row.number_id || !row.phone) {
    throw refuse('conflict', 'No official number is connected: connect one first')
  }
  const isFresh = row.health_at !== null && ctx.now().getTime() - row.health_at.getTime() <= freshMs
  const asked = isFresh ? null : await askHealth(ctx, row)
  const health = asked ?? row.health
  const checkedAt = asked ? ctx.now() : row.health_at
  if (!health || !checkedAt) throw refuse('unavailable', 'The provider does not answer: try again later')
  const { used, nextFreeAt } = await numberUsage(ctx, row.number_id)
  const limit = tierLimits[health.messagingLimitTier] ?? null
  const remaining = limit === null ? null : Math.max(0, limit - used)
  return {
    phone: row.phone,
    displayName: row.display_name,
    qualityRating: health.qualityRating,
    numberStatus: health.numberStatus,
    messagingLimitTier: health.messagingLimitTier as PhoneHealth['messagingLimitTier'],
    messagingLimit: limit,
    usedLast24h: used,
    remaining,
    nextFreeAt: remaining === 0 ? (nextFreeAt?.toISOString() ?? null) : null,
    throughput: health.throughput,
    checkedAt: checkedAt.toISOString(),
    isStale: !isFresh && !asked,
  }
}

/** Null where the provider is silent, or the number was replaced meanwhile. */
async function askHealth(ctx: Context, asked: HealthRow): Promise<NumberHealth | null> {
  const route = await routeOfType(ctx, 'official')
  if (!route) return null
  try {
    const health = await withinTime(route.port.phoneHealth(route.store), answerWithinMs)
    await ctx.transaction(async (tx) => {
      const row = await lockOfficial(tx)
      if (row?.credentials === asked.credentials) await takeOverHealth(tx, row, health, tx.now())
    })
    return health
  } catch (error) {
    if (!isSilent(error)) throw error
    ctx.log.warn({ err: error }, 'the health of the official number is its last answer')
    return null
  }
}

/** New recipients that the official number may have in 24 hours; null: unlimited, or nothing is known of it. */
export async function numberLimit(ctx: Context): Promise<number | null> {
  const [row] = await findHealth(ctx, {})
  return row?.health ? (tierLimits[row.health.messagingLimitTier] ?? null) : null
}
