import { canWriteAt, featureSet, statusAt, type SubscriptionStatus } from '#db/plans'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/query'

export interface Entitlement {
  status: SubscriptionStatus
  planId: string
  features: ReadonlySet<string>
  canWrite: boolean
}

const subscriptionRow = prepared((db, _values: object) =>
  db
    .selectFrom('subscriptions')
    .select([
      'plan_id',
      'status',
      'current_period_end',
      'trial_ends_at',
      'grace_ends_at',
      'ends_at',
      'paused_at',
    ]),
)

/** Status, features and whether writes go, from the row and the clock; background senders ask it for each batch. */
export async function entitlementOf(ctx: Context): Promise<Entitlement> {
  const [row] = await subscriptionRow(ctx, {})
  if (!row) throw new Error(`The store ${ctx.store.id} has no subscription`)
  const status = statusAt(row, ctx.clock.ms())
  return {
    status,
    planId: row.plan_id,
    features: featureSet(row.plan_id),
    canWrite: canWriteAt(status),
  }
}
