/** Pulls unsubscribes from the email provider on a schedule and applies them here (rule 6). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { mailingList } from '../mailing-list/connection.ts'

/** Overlap of two pulls: the provider's clock may differ from ours, and its events may arrive late. */
const overlapMs = dayMs

/**
 * Continues from the start of the last pull; for another list, from the first push to it. Returns whether the provider
 * was called and answered.
 */
export async function pullUnsubscribes(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const connected = await mailingList(ctx)
  if (!connected?.listId) return false
  const { port, store, listId } = connected
  const begun = ctx.now()
  const since = await findPullStart(ctx, listId)
  if (since === null) return false
  // A start in the future was written by a clock that was ahead.
  const from = Math.min(since.getTime(), begun.getTime()) - overlapMs
  for await (const emails of port.unsubscribedSince(store, listId, new Date(from))) {
    signal.throwIfAborted()
    await unsubscribe(ctx, emails)
  }
  const pulled = { list_id: listId, pulled_at: begun }
  await ctx.db
    .insertInto('newsletter_pulls')
    .values(pulled)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(pulled))
    .execute()
  return true
}

async function findPullStart(ctx: Context, listId: string): Promise<Date | null> {
  const last = await ctx.db
    .selectFrom('newsletter_pulls')
    .select('pulled_at')
    .where('list_id', '=', listId)
    .executeTakeFirst()
  if (last) return last.pulled_at
  const { first } = await ctx.db
    .selectFrom('newsletter_subscribers')
    .select((eb) => eb.fn.min('mailprovider_synced_at').as('first'))
    .executeTakeFirstOrThrow()
  return first
}

/**
 * Only subscribers that we put on the list; those who subscribed here again after unsubscribing there stay subscribed.
 */
async function unsubscribe(ctx: Context, emails: readonly string[]): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('newsletter_subscribers')
    .set({
      status: 'unsubscribed',
      unsubscribed_at: sql<Date>`coalesce(unsubscribed_at, ${now}::timestamptz)`,
      mailprovider_status: 'unsubscribed',
      mailprovider_synced_at: now,
      push_due: false,
      updated_at: now,
    })
    .where(emailKeySql('email'), '=', sql<string>`any(${[...new Set(emails.map(emailKey))]}::text[])`)
    .where('mailprovider_status', 'in', ['added', 'updated'])
    .execute()
}
