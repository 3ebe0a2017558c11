/** Computes what a store may use, from its subscription and the clock. The result never depends on a job (rule 11). */

import { type Expression, type RawBuilder, sql } from 'kysely'
import type { PlanFacts, SubscriptionInstants } from '#db/access'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { canWriteAt, featureSet, planIdAt, plans, type SubscriptionStatus, statusAt } from '../plans.ts'

export interface Entitlement {
  status: SubscriptionStatus
  planId: string
  features: ReadonlySet<string>
  canWrite: boolean
}

const findSubscription = prepared<object, SubscriptionInstants & PlanFacts>((db) =>
  db
    .selectFrom('subscriptions')
    .select([
      'plan_id',
      'scheduled_change',
      'status',
      'current_period_end',
      'trial_ends_at',
      'grace_ends_at',
      'ends_at',
      'paused_at',
    ]),
)

/** Reads the current entitlement. Jobs that send messages call it for each batch. */
export async function readEntitlement(ctx: Context): Promise<Entitlement> {
  const [row] = await findSubscription(ctx, {})
  if (!row) throw new Error(`Store ${ctx.store.id} has no subscription`)
  const now = ctx.clock.ms()
  const status = statusAt(row, now)
  const planId = planIdAt(row, now)
  return { status, planId, features: featureSet(planId), canWrite: canWriteAt(status) }
}

/** Whether the subscription and the plan allow a feature now. */
export async function mayUse(ctx: Context, feature: string): Promise<boolean> {
  const { canWrite, features } = await readEntitlement(ctx)
  return canWrite && features.has(feature)
}

/**
 * `statusAt` of `operations/store/plans.ts` as SQL, for JSON that the database builds. The query must use the alias `b` for
 * `subscriptions`.
 */
export const statusSql = (now: Expression<Date> | Date): RawBuilder<SubscriptionStatus> => {
  const at = sql`${now}::timestamptz`
  return sql`case b.status
    when 'trialing' then case when ${at} >= b.trial_ends_at then 'ended' else 'trialing' end
    when 'past-due' then case
      when ${at} >= b.grace_ends_at + interval '2160 hours' then 'ended'
      when ${at} >= b.grace_ends_at then 'paused' else 'past-due' end
    when 'paused' then case when ${at} >= b.paused_at + interval '2160 hours' then 'ended' else 'paused' end
    when 'active' then case
      when ${at} >= b.paused_at + interval '2160 hours' then 'ended'
      when ${at} >= b.paused_at then 'paused' else 'active' end
    when 'cancelled' then case when ${at} >= b.ends_at then 'ended' else 'cancelled' end
    else b.status end`
}

const planFacts = JSON.stringify(
  Object.fromEntries(
    Object.values(plans).map(({ id, name, messagesPerCycle, features }) => [
      id,
      { id, name, messagesPerCycle, features },
    ]),
  ),
)
/** `planIdAt` of `operations/store/plans.ts` as SQL. */
export const planIdSql = (now: Expression<Date> | Date): RawBuilder<string> =>
  sql`case when ${now}::timestamptz >= (b.scheduled_change ->> 'effectiveAt')::timestamptz
    then b.scheduled_change ->> 'planId' else b.plan_id end`

/** The plan of a row `b` of `subscriptions` as JSON: `{ id, name, messagesPerCycle, features }`. */
export const planJson = (now: Expression<Date> | Date): RawBuilder<unknown> =>
  sql`${sql.lit(planFacts)}::json -> (${planIdSql(now)})`

/** Runs the `entitlementChanged` hooks, in the transaction that changed the plan or status. */
export async function notifyEntitlementChanged(ctx: Context): Promise<void> {
  for (const hook of ctx.extensions.entitlementChanged) await hook(ctx)
}
