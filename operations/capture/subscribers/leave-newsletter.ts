import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'

/** A subscriber leaves by the link of an email; one who has left stays as they are. */
export async function leaveNewsletter(ctx: Context, subscriberId: string): Promise<void> {
  if (!isId(subscriberId)) return
  const now = ctx.now()
  await ctx.db
    .updateTable('newsletter_subscribers')
    .set({ status: 'unsubscribed', unsubscribed_at: now, push_due: false, updated_at: now })
    .where('id', '=', subscriberId)
    .where('status', '=', 'subscribed')
    .execute()
}
