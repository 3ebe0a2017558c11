/**
 * What is on its way to the platform (rules 1 and 2): one row for each discount, there from before the platform is called until
 * its answer is written down. Whoever has its token and its revision may finish it; who takes over raises one of them.
 */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse, refuseForNow } from '#runtime/errors'
import { discountReconcile } from '../handles.ts'
import type { Draft } from './draft.ts'
import type { Kind } from './kinds.ts'
import { countDiscounts } from './rows.ts'

/** A call that was not heard of for so long is given up: others may take over. */
export const intentLastsMs = minuteMs

export interface Intent {
  discountId: string
  token: string
  revision: number
}

export const intentRow = (ctx: Context, discountId: string) =>
  ctx.db.selectFrom('discount_intents').selectAll().where('discount_id', '=', discountId)

const isFresh = (row: Row<'discount_intents'>, now: Date): boolean =>
  now.getTime() < row.created_at.getTime() + intentLastsMs

/** The open intent of a discount, which is older than a minute, or null. Refuses a younger one. Under the store's lock. */
export async function takeableIntent(
  ctx: Context,
  noun: string,
  discountId: string,
): Promise<Row<'discount_intents'> | null> {
  const open = await intentRow(ctx, discountId).forUpdate().executeTakeFirst()
  if (!open) return null
  if (isFresh(open, ctx.now())) {
    throw refuseForNow('conflict', `Another change of this ${noun} is being written: try again in a minute`)
  }
  return open
}

/** Opens an intent or takes an older one over, and queues who looks after it. Under the store's lock. */
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
  await ctx.queue(discountReconcile, { discountId, token }, { at: new Date(now.getTime() + intentLastsMs) })
}

/** Whether it is still this caller's to finish; holds it until the transaction ends. */
export async function isStillOurs(ctx: Context, { discountId, token, revision }: Intent): Promise<boolean> {
  const row = await intentRow(ctx, discountId).forUpdate().executeTakeFirst()
  return row?.token === token && row.revision === revision
}

/** The same, within the minute in which nobody else may have its name or place. */
export async function isOursInTime(ctx: Context, intent: Intent): Promise<boolean> {
  const row = await intentRow(ctx, intent.discountId).forUpdate().executeTakeFirst()
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

/** Its name and place are free again; it stays open for `discount-reconcile`. */
export async function releaseReservation(ctx: Context, { discountId, token }: Intent): Promise<void> {
  await ctx.db
    .updateTable('discount_intents')
    .set({ is_reserving: false })
    .where('discount_id', '=', discountId)
    .where('token', '=', token)
    .execute()
}

const reserving = (ctx: Context, discountId: string) =>
  ctx.db
    .selectFrom('discount_intents')
    .where('is_reserving', '=', true)
    .where('created_at', '>', new Date(ctx.now().getTime() - intentLastsMs))
    .where('discount_id', '!=', discountId)

/** Refuses a name that another discount of the kind has, or is being given. Under the store's lock. */
export async function requireFreeName(ctx: Context, kind: Kind, id: string, name: string): Promise<void> {
  const isName = sql<boolean>`lower(name) = lower(${name})`
  const saved = await ctx.db
    .selectFrom('discounts')
    .select('id')
    .where('kind', '=', kind.name)
    .where('id', '!=', id)
    .where(isName)
    .executeTakeFirst()
  const coming =
    saved ??
    (await reserving(ctx, id)
      .select('discount_id')
      .where('kind', '=', kind.name)
      .where(isName)
      .executeTakeFirst())
  if (coming) throw refuse('conflict', `name: there is a ${kind.noun} named ${name} already`)
}

/**
 * Refuses one more of a kind, or one more that is live, where there are as many as there may be; so too where the
 * platform (`maxLive`, of all kinds) takes no more. Under the store's lock.
 */
export async function requirePlace(
  ctx: Context,
  kind: Kind,
  id: string,
  wants: { isNew: boolean; isLive: boolean; maxLive: number | null },
): Promise<void> {
  const now = ctx.now()
  const counted = await countDiscounts(ctx, now, kind.name)
  const coming = await reserving(ctx, id)
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
