/** Who left at the email provider, asked of it by the clock: they leave here too (rule 6). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { mailingList } from '../mailing-list/connection.ts'

/** The provider's clock is not ours, and what it tells may come late. */
const looksBackMs = dayMs

/**
 * Asks from where the last pull began; of another list from when its first subscriber was pushed. Answers whether the
 * provider was asked, and answered.
 */
export async function pullLeavers(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const connected = await mailingList(ctx)
  if (!connected?.listId) return false
  const { port, store, listId } = connected
  const begun = ctx.now()
  const since = await sinceOf(ctx, listId)
  if (since === null) return false
  // One that has not come was written by a clock that was ahead.
  const from = Math.min(since.getTime(), begun.getTime()) - looksBackMs
  for await (const emails of port.leftSince(store, listId, new Date(from))) {
    signal.throwIfAborted()
    await leave(ctx, emails)
  }
  const pulled = { list_id: listId, pulled_at: begun }
  await ctx.db
    .insertInto('newsletter_pulls')
    .values(pulled)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(pulled))
    .execute()
  return true
}

async function sinceOf(ctx: Context, listId: string): Promise<Date | null> {
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

/** Of those who are on the list by us: who came back here since they left there is not told of it again. */
async function leave(ctx: Context, emails: readonly string[]): Promise<void> {
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
    .where(emailKeyOf('email'), '=', sql<string>`any(${[...new Set(emails.map(emailKey))]}::text[])`)
    .where('mailprovider_status', 'in', ['added', 'updated'])
    .execute()
}
