/** Erases a person: ends their runs and anonymises their carts and messages. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import { belongsToSubject, type DataSubject, type ErasureHandler } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { executions } from '../engine/outbox-source.ts'
import { endExecutions } from '../engine/termination.ts'

const erasedCart = {
  customer_id: null,
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  phone_key: null,
}
const erasedMessage = { phone: null, phone_key: null, message: null, text: null }
const erasedRun = {
  ...{ customer_id: null, phone: null, phone_key: null, email: null, contact_name: null },
  // For runs about a customer, the entity id is the customer's id and the entry key contains it.
  entity_id: sql<string>`case when entity_type = 'customer' then 'forgotten' else entity_id end`,
  entry_key: sql<string>`case when entity_type = 'customer' then 'forgotten:' || id else entry_key end`,
}

export const runErasure: ErasureHandler = {
  async stop(ctx, person) {
    const runs = await findRuns(ctx, person)
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
    await outbox.endForErasure(
      ctx,
      executions,
      sending.map(({ id }) => id),
    )
  },
  async erase(ctx, person) {
    const runs = await findRuns(ctx, person)
    const now = ctx.now()
    await ctx.db
      .updateTable('automation_executions')
      .set({ ...erasedMessage, updated_at: now })
      .where(isAmong('run_id', runs, 'uuid'))
      .execute()
    await ctx.db
      .updateTable('automation_runs')
      .set({ ...erasedRun, ended_at: sql<Date>`coalesce(ended_at, ${now})`, updated_at: now })
      .where(isAmong('id', runs, 'uuid'))
      .execute()
    const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key' }
    await ctx.db
      .updateTable('carts')
      .set({ ...erasedCart, updated_at: now })
      .where(belongsToSubject(person, columns))
      .execute()
  },
}

async function findRuns(ctx: Context, person: DataSubject): Promise<string[]> {
  const columns = { customer: 'customer_id', email: 'email', phoneKey: 'phone_key', order: 'order_id' }
  const rows = await ctx.db
    .selectFrom('automation_runs')
    .select('id')
    .where(belongsToSubject(person, columns))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Erases all carts and runs of the store after its shop was disconnected, because they all refer to that shop's data. */
export async function eraseShop(ctx: Context): Promise<void> {
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
  await outbox.endForErasure(
    ctx,
    executions,
    sending.map(({ id }) => id),
  )
  await ctx.db
    .updateTable('automation_executions')
    .set({ ...erasedMessage, updated_at: now })
    .execute()
  await ctx.db
    .updateTable('automation_runs')
    .set({ ...erasedRun, ended_at: sql<Date>`coalesce(ended_at, ${now})`, updated_at: now })
    .execute()
  await ctx.db
    .updateTable('carts')
    .set({ ...erasedCart, updated_at: now })
    .execute()
}
