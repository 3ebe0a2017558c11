import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { mailproviderPush } from '../handles.ts'
import { claimTimeoutMs } from '../mailprovider/push.ts'

/** By then a running push has been recorded, or its claim has expired. */
const claimExpirySeconds = claimTimeoutMs / 1000 + 10

/**
 * Unsubscribes by an email's link; repeated calls change nothing. Subscribers who are or may be on the email provider's
 * list are removed there too: a push may be running, or may have died before it was recorded.
 */
export async function unsubscribeFromNewsletter(ctx: Context, subscriberId: string): Promise<void> {
  if (!isId(subscriberId)) return
  const now = ctx.now()
  const unsubscribed = await ctx.db
    .updateTable('newsletter_subscribers')
    .set({
      status: 'unsubscribed',
      unsubscribed_at: now,
      push_due: sql<boolean>`coalesce(mailprovider_status in ('added', 'updated'), false) or push_claim is not null`,
      updated_at: now,
    })
    .where('id', '=', subscriberId)
    .where('status', '=', 'subscribed')
    .returning(['push_due', 'push_claim'])
    .executeTakeFirst()
  if (!unsubscribed?.push_due) return
  await ctx.queue(
    mailproviderPush,
    { subscriberId },
    unsubscribed.push_claim ? { afterSeconds: claimExpirySeconds } : {},
  )
}
