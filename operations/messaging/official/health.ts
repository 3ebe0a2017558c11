/** The health of the official number at its provider (rule 8). */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { readNumberUsage, tierLimits } from '../numbers/limit.ts'
import { isUnavailable } from '../numbers/provider.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { findRouteByType } from '../numbers/route.ts'
import type { NumberHealth } from '../provider/number-port.ts'
import type { PhoneHealth } from './schema.ts'
import { lockOfficial, saveHealth } from './state.ts'

const freshMs = 5 * minuteMs
const providerTimeoutMs = 8_000

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

/**
 * Returns the stored health, or requests it from the provider if it is older than five minutes. Refuses if there is no
 * official number.
 */
export async function readHealth(ctx: Context): Promise<PhoneHealth> {
  const [row] = await findHealth(ctx, {})
  if (!row || row.status === 'none' || !row.number_id || !row.phone) {
    throw refuse('conflict', 'No official number is connected: connect one first')
  }
  const isFresh = row.health_at !== null && ctx.now().getTime() - row.health_at.getTime() <= freshMs
  const fresh = isFresh ? null : await requestHealth(ctx, row)
  const health = fresh ?? row.health
  const checkedAt = fresh ? ctx.now() : row.health_at
  if (!health || !checkedAt) throw refuse('unavailable', 'The provider does not answer: try again later')
  const { used, nextFreeAt } = await readNumberUsage(ctx, row.number_id)
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
    isStale: !isFresh && !fresh,
  }
}

/** Requests the health from the provider. Null if it does not answer, or the number was replaced meanwhile. */
async function requestHealth(ctx: Context, requested: HealthRow): Promise<NumberHealth | null> {
  const route = await findRouteByType(ctx, 'official')
  if (!route) return null
  try {
    const health = await withProviderTimeout(route.port.phoneHealth(route.store), providerTimeoutMs)
    await ctx.transaction(async (tx) => {
      const row = await lockOfficial(tx)
      if (row?.credentials === requested.credentials) await saveHealth(tx, row, health, tx.now())
    })
    return health
  } catch (error) {
    if (!isUnavailable(error)) throw error
    ctx.log.warn({ err: error }, 'health request failed, using the last answer')
    return null
  }
}

/** New recipients per 24 hours that the official number allows; null: unlimited or unknown. */
export async function readNumberLimit(ctx: Context): Promise<number | null> {
  const [row] = await findHealth(ctx, {})
  return row?.health ? (tierLimits[row.health.messagingLimitTier] ?? null) : null
}
