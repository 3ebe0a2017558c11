/** Somebody who wants to be forgotten: their runs end, and what is kept of carts and messages is nobody's. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { endExecutions } from '../engine/endings.ts'
import { executions } from '../engine/lane.ts'

const nobodysCart = {
  customer_id: null,
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  phone_key: null,
}
const nobodysMessage = { phone: null, phone_key: null, message: null, text: null }
const nobodysRun = {
  ...{ customer_id: null, phone: null, phone_key: null, email: null, contact_name: null },
  // A customer's runs are known by the customer.
  entity_id: sql<string>`case when entity_type = 'customer' then 'forgotten' else entity_id end`,
  entry_key: sql<string>`case when entity_type = 'customer' then 'forgotten:' || id else entry_key end`,
}

export const forgetsRuns: Forgets = {
  async stop(ctx, person) {
    const runs = await runsOf(ctx, person)
    const open = (status: string) =>
      ctx.db
        .selectFrom('automation_executions')
        .select('id')
        .where(isAmong('run_id', runs, 'uuid'))
        .where('status', '=', status)
        .orderBy('id')
        .execute()
    const pending = await open('pending')
    await endExecutions(
      ctx,
      pending.map(({ id }) => ({ id, status: 'skipped', code: 'opted-out' })),
    )
    const sending = await open('sending')
    await outbox.endForgotten(
      ctx,
      executions,
      sending.map(({ id }) => id),
    )
  },
  async forget(ctx, person) {
    const runs = await runsOf(ctx, person)
    const now = ctx.now()
    await ctx.db
      .updateTable('automation_executions')
      .set({ ...nobodysMessage, updated_at: now })
      .where(isAmong('run_id', runs, 'uuid'))
      .execute()
    await ctx.db
      .updateTable('automation_runs')
      .set({ ...nobodysRun, ended_at: sql<Date>`coalesce(ended_at, ${now})`, updated_at: now })
      .where(isAmong('id', runs, 'uuid'))
      .execute()
    const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key' }
    await ctx.db
      .updateTable('carts')
      .set({ ...nobodysCart, updated_at: now })
      .where(isTheirs(person, columns))
      .execute()
  },
}

async function runsOf(ctx: Context, person: Forgotten): Promise<string[]> {
  const columns = { customer: 'customer_id', email: 'email', phoneKey: 'phone_key', order: 'order_id' }
  const rows = await ctx.db
    .selectFrom('automation_runs')
    .select('id')
    .where(isTheirs(person, columns))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Carts and runs of a shop that left: all of them are about its orders, carts and customers. */
export async function forgetShop(ctx: Context): Promise<void> {
  const now = ctx.now()
  const pending = await ctx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute()
  await endExecutions(
    ctx,
    pending.map(({ id }) => ({ id, status: 'skipped', code: 'not-eligible' })),
  )
  const sending = await ctx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('status', '=', 'sending')
    .orderBy('id')
    .execute()
  await outbox.endForgotten(
    ctx,
    executions,
    sending.map(({ id }) => id),
  )
  await ctx.db
    .updateTable('automation_executions')
    .set({ ...nobodysMessage, updated_at: now })
    .execute()
  await ctx.db
    .updateTable('automation_runs')
    .set({ ...nobodysRun, ended_at: sql<Date>`coalesce(ended_at, ${now})`, updated_at: now })
    .execute()
  await ctx.db
    .updateTable('carts')
    .set({ ...nobodysCart, updated_at: now })
    .execute()
}
