/**
 * Intents: writes of a discount that may have reached the platform and are not recorded yet (rules 1 and 2). A discount
 * has at most one. Its row is inserted before the platform is called and deleted when the outcome is recorded. Token
 * and revision act as an optimistic lock: only their holder may finish the intent, and a takeover changes one of them.
 */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { discountReconcile } from '../handles.ts'
import type { Draft } from './draft.ts'
import type { Kind } from './kinds.ts'
import { countDiscounts } from './rows.ts'

/** Lease of an intent. Once it expires, the platform call counts as failed and another write may take over the intent. */
export const intentLeaseMs = minuteMs

export interface Intent {
  discountId: string
  token: string
  revision: number
}

export const selectIntent = (ctx: Context, discountId: string) =>
  ctx.db.selectFrom('discount_intents').selectAll().where('discount_id', '=', discountId)

const isFresh = (row: Row<'discount_intents'>, now: Date): boolean =>
  now.getTime() < row.created_at.getTime() + intentLeaseMs

/**
 * Returns the open intent of a discount if its lease has expired; null if there is none. Refuses if the lease still runs.
 * The caller holds the store's lock.
 */
export async function findExpiredIntent(
  ctx: Context,
  noun: string,
  discountId: string,
): Promise<Row<'discount_intents'> | null> {
  const open = await selectIntent(ctx, discountId).forUpdate().executeTakeFirst()
  if (!open) return null
  if (isFresh(open, ctx.now())) {
    throw refuseTemporarily(
      'conflict',
      `Another change of this ${noun} is being written: try again in a minute`,
    )
  }
  return open
}

/** Opens an intent or takes over an expired one, and queues its reconciliation. The caller holds the store's lock. */
export async function openIntent(
  ctx: Context,
  intent: Intent & {
    kind: Kind
    action: 'create' | 'change' | 'remove' | 'repair'
    wanted: Draft | null
    takesPlace: boolean
  },
): Promise<void> {
  const { discountId, kind, action, wanted, token, revision } = intent
  const now = ctx.now()
  const changing = {
    kind: kind.name,
    token,
    action,
    name: wanted?.name ?? null,
    takes_place: intent.takesPlace,
    is_reserving: action !== 'repair',
    wanted: wanted ? JSON.stringify(wanted) : null,
    revision,
    created_at: now,
  }
  await ctx.db
    .insertInto('discount_intents')
    .values({ discount_id: discountId, ...changing })
    .onConflict((conflict) => conflict.columns(['store_id', 'discount_id']).doUpdateSet(changing))
    .execute()
  await ctx.queue(discountReconcile, { discountId, token }, { at: new Date(now.getTime() + intentLeaseMs) })
}

/** Whether the caller still owns the intent; locks it until the transaction ends. */
export async function ownsIntent(ctx: Context, { discountId, token, revision }: Intent): Promise<boolean> {
  const row = await selectIntent(ctx, discountId).forUpdate().executeTakeFirst()
  return row?.token === token && row.revision === revision
}

/** Like `ownsIntent`, but also checks that the lease, which reserves name and capacity, has not expired. */
export async function ownsFreshIntent(ctx: Context, intent: Intent): Promise<boolean> {
  const row = await selectIntent(ctx, intent.discountId).forUpdate().executeTakeFirst()
  return row?.token === intent.token && row.revision === intent.revision && isFresh(row, ctx.now())
}

export async function closeIntent(ctx: Context, { discountId, token, revision }: Intent): Promise<void> {
  await ctx.db
    .deleteFrom('discount_intents')
    .where('discount_id', '=', discountId)
    .where('token', '=', token)
    .where('revision', '=', revision)
    .execute()
}

/** Releases the reserved name and capacity; the intent stays open for `discount-reconcile`. */
export async function releaseReservation(ctx: Context, { discountId, token }: Intent): Promise<void> {
  await ctx.db
    .updateTable('discount_intents')
    .set({ is_reserving: false })
    .where('discount_id', '=', discountId)
    .where('token', '=', token)
    .execute()
}

const selectReservations = (ctx: Context, discountId: string) =>
  ctx.db
    .selectFrom('discount_intents')
    .where('is_reserving', '=', true)
    .where('created_at', '>', new Date(ctx.now().getTime() - intentLeaseMs))
    .where('discount_id', '!=', discountId)

/** Refuses a name that another discount of the kind has or has reserved. The caller holds the store's lock. */
export async function requireFreeName(ctx: Context, kind: Kind, id: string, name: string): Promise<void> {
  const isName = sql<boolean>`fold_text(name) = fold_text(${name}::text)`
  const saved = await ctx.db
    .selectFrom('discounts')
    .select('id')
    .where('kind', '=', kind.name)
    .where('id', '!=', id)
    .where(isName)
    .executeTakeFirst()
  const coming =
    saved ??
    (await selectReservations(ctx, id)
      .select('discount_id')
      .where('kind', '=', kind.name)
      .where(isName)
      .executeTakeFirst())
  if (coming) throw refuse('conflict', `name: there is a ${kind.noun} named ${name} already`)
}

/**
 * Refuses a new discount or a further live discount if it would exceed a limit: the kind's limits, or the platform's
 * limit of live discounts over all kinds (`maxLive`). The caller holds the store's lock.
 */
export async function requireCapacity(
  ctx: Context,
  kind: Kind,
  id: string,
  wants: { isNew: boolean; isLive: boolean; maxLive: number | null },
): Promise<void> {
  const now = ctx.now()
  const counted = await countDiscounts(ctx, now, kind.name)
  const coming = await selectReservations(ctx, id)
    .select([
      sql<number>`count(*) filter (where kind = ${kind.name} and action = 'create')::int`.as('made'),
      sql<number>`count(*) filter (where kind = ${kind.name} and takes_place)::int`.as('live'),
      sql<number>`count(*) filter (where takes_place)::int`.as('ofAll'),
    ])
    .executeTakeFirstOrThrow()
  if (wants.isNew && counted.all + coming.made >= kind.atMost) {
    throw refuse(
      'conflict',
      `There are ${kind.atMost} ${kind.noun}s, and there cannot be more: delete one first`,
    )
  }
  if (!wants.isLive) return
  if (counted.live + coming.live >= kind.liveAtMost) {
    throw refuse(
      'conflict',
      `${kind.liveAtMost} ${kind.noun}s are active or scheduled, and there cannot be more: pause one first`,
    )
  }
  if (wants.maxLive === null) return
  const { live } = await countDiscounts(ctx, now, null)
  if (live + coming.ofAll >= wants.maxLive) {
    throw refuse(
      'conflict',
      `Your platform takes at most ${wants.maxLive} discounts at a time: pause one first`,
    )
  }
}
