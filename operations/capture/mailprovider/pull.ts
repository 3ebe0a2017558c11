/** Periodically reads from the email provider who has unsubscribed there, and unsubscribes them here (rule 6). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { mailingList } from '../mailing-list/connection.ts'

/** Overlap of two pulls, because the provider's clock may differ from ours and its events may appear late. */
const overlapMs = dayMs

/**
 * Reads unsubscribes since the last pull started; for a list that was not pulled before, since the first push to it.
 * Returns whether the provider was called.
 */
export async function pullUnsubscribes(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const connected = await mailingList(ctx)
  if (!connected?.listId) return false
  const { port, store, listId } = connected
  const begun = ctx.now()
  const since = await findPullStart(ctx, listId)
  if (since === null) return false
  // The stored start may be in the future if the clock that wrote it was ahead.
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
 * Unsubscribes the subscribers that we have put on the list. A person who subscribed here again after unsubscribing at the
 * provider stays subscribed.
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
