/** What the clock brings about in all stores. Nothing that is decided depends on whether this has run. */

import { sql } from 'kysely'
import { cycles, notify } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { addTask } from '../intents.ts'
import { goesBackForMs } from '../moves.ts'
import { followedAgainMs, lockFreeRow } from '../rows.ts'

const batch = 200

/** Writes due moves, opens message cycles, tells of trials that end; store by store, in batches. */
export async function tick(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  await expireCheckouts(ctx)
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const due = await dueStores(ctx, after)
    for (const storeId of due) {
      signal.throwIfAborted()
      const store = await ctx.forStore(storeId)
      if (store) await store.transaction(move)
    }
    if (due.length < batch) return
    after = due.at(-1)!
  }
}

async function move(tx: Context): Promise<void> {
  const row = await lockFreeRow(tx)
  if (!row) return
  if (row.status === 'trialing' && row.trial_ends_at) await tellOfTrial(tx, row.trial_ends_at)
  if (row.status === 'active' || row.status === 'past-due' || row.status === 'cancelled') {
    await cycles.openCycle(tx)
  }
}

/** The notice of the nearest mark that has passed; each once. */
async function tellOfTrial(tx: Context, endsAt: Date): Promise<void> {
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
    dedupeKey: trialKey(days, endsAt),
  })
}

const trialKey = (days: number, endsAt: Date): string => `trial-ending:${days}:${endsAt.toISOString()}`

/** Stores whose subscription has something to be written now. */
async function dueStores(ctx: SystemContext, after: string): Promise<string[]> {
  const now = sql<Date>`${ctx.now()}::timestamptz`
  // The key that `tellOfTrial` makes: whom it was told already is left alone.
  const told = (days: number) => {
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
        or (b.trial_ends_at <= ${now} + interval '24 hours' and not ${told(1)})
        or (b.trial_ends_at > ${now} + interval '24 hours' and b.trial_ends_at <= ${now} + interval '72 hours'
          and not ${told(3)})
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

/** At the provider too: a page there may outlive what it was priced on. */
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
 * Stores with an agreement, an open checkout or something left half-way; once a day those where all is over, as long as
 * what was paid may go back.
 */
export const storesToReconcile = (ctx: SystemContext) => {
  const { root } = ctx
  const before = (ms: number): Date => new Date(ctx.now().getTime() - ms)
  const goesBackFrom = before(goesBackForMs)
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
    .where(sql<boolean>`coalesce(b.followed_at <= ${before(followedAgainMs)}, true)`)
    .where(sql<boolean>`((b.agreement_id is not null and b.ends_at > ${goesBackFrom}) or exists (${paid}))`)
  return goesOn
    .union(isOver)
    .union(root.selectFrom('checkouts').select('store_id').where('status', 'in', ['open', 'creating']))
    .union(root.selectFrom('billing_intents').select('store_id').where('status', '=', 'open'))
}
