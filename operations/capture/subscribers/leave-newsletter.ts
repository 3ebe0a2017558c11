import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { mailproviderPush } from '../handles.ts'

/**
 * A subscriber leaves by the link of an email; one who has left stays as they are. Who is on the list of the email
 * provider is taken off it too.
 */
export async function leaveNewsletter(ctx: Context, subscriberId: string): Promise<void> {
  if (!isId(subscriberId)) return
  const now = ctx.now()
  const left = await ctx.db
    .updateTable('newsletter_subscribers')
    .set({
      status: 'unsubscribed',
      unsubscribed_at: now,
      push_due: sql<boolean>`coalesce(mailprovider_status in ('added', 'updated'), false)`,
      updated_at: now,
    })
    .where('id', '=', subscriberId)
    .where('status', '=', 'subscribed')
    .returning('push_due')
    .executeTakeFirst()
  if (left?.push_due) await ctx.queue(mailproviderPush, { subscriberId })
}
