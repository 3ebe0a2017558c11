/** Turns the inbox on and off, and handles the loss of the official number. */
import { notify } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { failQueued } from '../sending/outbox-source.ts'
import { readInboxState } from '../state.ts'
import { startRun } from './runs.ts'

const reconciledDays = 30

/** Turns the inbox on and starts to reconcile missed messages. Throws `conflict` if no official number is connected. */
export async function enable(ctx: Context): Promise<void> {
  if (!(await readInboxState(ctx)).hasOfficial) {
    throw refuse('conflict', 'The inbox needs an official number that is connected: connect one first')
  }
  const now = ctx.now()
  await ctx.db
    .insertInto('inbox_settings')
    .values({ created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const switched = await ctx.db
    .updateTable('inbox_settings')
    .set({ is_enabled: true, enabled_at: now, is_cut_off: false, updated_at: now })
    .where('is_enabled', '=', false)
    .returning('enabled_at')
    .executeTakeFirst()
  if (switched) await startRun(ctx, 'reconcile', { days: reconciledDays })
}

/** Turns the inbox off: it no longer receives messages, but still sends queued ones. */
export async function disable(ctx: Context): Promise<void> {
  await ctx.db
    .updateTable('inbox_settings')
    .set({ is_enabled: false, enabled_at: null, updated_at: ctx.now() })
    .where('is_enabled', '=', true)
    .execute()
}

/**
 * Applies the state of the official number's connection to the inbox. After a disconnect it notifies the merchant once
 * and fails the queued messages. After a reconnect the inbox is on again.
 */
export async function checkConnection(ctx: Context): Promise<void> {
  const { hasOfficial } = await readInboxState(ctx)
  await ctx.transaction(async (tx) => {
    const moved = await tx.db
      .updateTable('inbox_settings')
      .set({ is_cut_off: !hasOfficial })
      .where('is_enabled', '=', true)
      .where('is_cut_off', '=', hasOfficial)
      .returning('is_cut_off')
      .executeTakeFirst()
    if (!moved?.is_cut_off) return
    await notify(tx, {
      type: 'inbox-disabled',
      level: 'warning',
      title: 'The inbox is off',
      message:
        'The official number is disconnected: nothing comes in and nothing leaves until it is connected again.',
      dedupeKey: null,
    })
  })
  if (!hasOfficial) await failQueued(ctx)
}

/** Finds the stores whose `is_cut_off` differs from the state of the official number's connection. */
export async function findStoresToCheck(ctx: SystemContext): Promise<string[]> {
  const rows = await ctx.root
    .selectFrom('inbox_settings as i')
    .select('i.store_id')
    .where('i.is_enabled', '=', true)
    .where((eb) =>
      eb(
        'i.is_cut_off',
        '=',
        eb
          .exists(
            eb
              .selectFrom('messaging_connections as c')
              .select('c.store_id')
              .whereRef('c.store_id', '=', 'i.store_id')
              .where('c.type', '=', 'official')
              .where('c.status', '=', 'connected'),
          )
          .$castTo<boolean>(),
      ),
    )
    .execute()
  return rows.map((row) => row.store_id)
}
