import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { mailproviderPush } from '../handles.ts'
import { claimTimeoutMs } from '../mailprovider/push.ts'

/** Delay after which a push that was running has been recorded, or its claim has expired. */
const claimExpirySeconds = claimTimeoutMs / 1000 + 10

/**
 * Unsubscribes a subscriber by an email's link. Repeated calls change nothing. Also queues the removal from the email
 * provider's list if the subscriber is or may be on it: a push may be running, or may have died before it was recorded.
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
