/** Writes the time-based changes of all stores. No decision depends on this job: reads compute the same changes. */

import { sql } from 'kysely'
import { cycles, notify } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { addTask } from '../intents.ts'
import { lockFreeRow, reconcileIntervalMs } from '../rows.ts'
import { refundWindowMs } from '../transitions.ts'

const batch = 200

/** Writes due transitions, opens message cycles and sends trial reminders, store by store, in batches. */
export async function tick(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  await expireCheckouts(ctx)
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const due = await listDueStores(ctx, after)
    for (const storeId of due) {
      signal.throwIfAborted()
      const store = await ctx.forStore(storeId)
      if (store) await store.transaction(applyDue)
    }
    if (due.length < batch) return
    after = due.at(-1)!
  }
}

async function applyDue(tx: Context): Promise<void> {
  const row = await lockFreeRow(tx)
  if (!row) return
  if (row.status === 'trialing' && row.trial_ends_at) await notifyTrialEnding(tx, row.trial_ends_at)
  if (row.status === 'active' || row.status === 'past-due' || row.status === 'cancelled') {
    await cycles.openCycle(tx)
  }
}

/** Sends the trial reminder for the fewest days left that is due. Each reminder is sent once. */
async function notifyTrialEnding(tx: Context, endsAt: Date): Promise<void> {
  const left = endsAt.getTime() - tx.now().getTime()
  const days = [1, 3].find((each) => left <= each * dayMs)
  if (days === undefined) return
  await notify(tx, {
    type: 'trial-ending',
    level: 'warning',
    title: days === 1 ? 'Your free trial ends tomorrow' : `Your free trial ends in ${days} days`,
    message: 'Choose a plan to go on writing and sending. Nothing of what you made is lost.',
    link: '/subscription',
    data: { trialEndsAt: endsAt.toISOString(), days },
    dedupeKey: buildTrialKey(days, endsAt),
  })
}

const buildTrialKey = (days: number, endsAt: Date): string => `trial-ending:${days}:${endsAt.toISOString()}`

/** Stores whose subscription has a change to write now. */
async function listDueStores(ctx: SystemContext, after: string): Promise<string[]> {
  const now = sql<Date>`${ctx.now()}::timestamptz`
  // The dedupe key of `notifyTrialEnding`: skips stores that have this notification.
  const isNotified = (days: number) => {
    const notices = ctx.root
      .selectFrom('notifications as n')
      .select('n.id')
      .where(sql<boolean>`n.store_id = b.store_id`)
      .where(sql<boolean>`n.dedupe_key = ${`trial-ending:${days}:`} || iso(b.trial_ends_at)`)
    return sql<boolean>`exists (${notices})`
  }
  const cycle = ctx.root
    .selectFrom('usage_cycles as u')
    .select('u.store_id')
    .where(sql<boolean>`u.store_id = b.store_id`)
    .where('u.starts_at', '<=', now)
    .where('u.ends_at', '>', now)
  const hasCycle = sql<boolean>`exists (${cycle})`
  const rows = await ctx.root
    .selectFrom('subscriptions as b')
    .select('b.store_id')
    .where('b.store_id', '>', after)
    .where(sql<boolean>`case b.status
      when 'trialing' then b.trial_ends_at <= ${now}
        or (b.trial_ends_at <= ${now} + interval '24 hours' and not ${isNotified(1)})
        or (b.trial_ends_at > ${now} + interval '24 hours' and b.trial_ends_at <= ${now} + interval '72 hours'
          and not ${isNotified(3)})
      when 'paused' then b.paused_at + interval '2160 hours' <= ${now}
      when 'cancelled' then b.ends_at <= ${now} or not ${hasCycle}
      when 'past-due' then b.grace_ends_at <= ${now} or ${isChanging(now)} or not ${hasCycle}
      when 'active' then b.paused_at <= ${now} or ${isChanging(now)} or not ${hasCycle}
        or (b.provider is null and b.current_period_end <= ${now})
      else false end`)
    .orderBy('b.store_id')
    .limit(batch)
    .execute()
  return rows.map((row) => row.store_id)
}

const isChanging = (now: ReturnType<typeof sql<Date>>) =>
  sql<boolean>`coalesce((b.scheduled_change ->> 'effectiveAt')::timestamptz <= ${now}, false)`

/** Expires checkouts in our database, and closes their pages at the provider, where they may stay open longer. */
async function expireCheckouts(ctx: SystemContext): Promise<void> {
  const now = ctx.now()
  const expired = await ctx.root
    .updateTable('checkouts')
    .set((eb) => ({ status: 'expired', completed_at: eb.ref('expires_at'), updated_at: now }))
    .where('status', '=', 'open')
    .where('expires_at', '<=', now)
    .returning(['store_id', 'provider', 'provider_checkout_id'])
    .execute()
  for (const { store_id: storeId, provider, provider_checkout_id: agreementId } of expired) {
    const store = agreementId === null ? null : await ctx.forStore(storeId)
    await store?.transaction((tx) =>
      addTask(tx, { kind: 'close-checkout', provider, agreementId: agreementId! }),
    )
  }
}

/**
 * Stores with an agreement, an open checkout or an open intent. Once a day, also stores whose subscription ended while its
 * payments can still be refunded.
 */
export const storesToReconcile = (ctx: SystemContext) => {
  const { root } = ctx
  const before = (ms: number): Date => new Date(ctx.now().getTime() - ms)
  const goesBackFrom = before(refundWindowMs)
  const goesOn = root
    .selectFrom('subscriptions')
    .select('store_id')
    .where('agreement_id', 'is not', null)
    .where('status', 'in', ['active', 'past-due', 'paused', 'cancelled'])
  const paid = root
    .selectFrom('payments as p')
    .select('p.id')
    .where(sql<boolean>`p.store_id = b.store_id`)
    .where('p.created_at', '>', goesBackFrom)
  const isOver = root
    .selectFrom('subscriptions as b')
    .select('b.store_id')
    .where('b.status', 'in', ['trialing', 'ended'])
    .where(sql<boolean>`coalesce(b.followed_at <= ${before(reconcileIntervalMs)}, true)`)
    .where(sql<boolean>`((b.agreement_id is not null and b.ends_at > ${goesBackFrom}) or exists (${paid}))`)
  return goesOn
    .union(isOver)
    .union(root.selectFrom('checkouts').select('store_id').where('status', 'in', ['open', 'creating']))
    .union(root.selectFrom('billing_intents').select('store_id').where('status', '=', 'open'))
}
