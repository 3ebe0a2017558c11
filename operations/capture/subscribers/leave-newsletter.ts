import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { mailproviderPush } from '../handles.ts'
import { claimMs } from '../mailprovider/push.ts'

/** By then what a push has in hand is recorded, or its process died and others may take it. */
const claimOverSeconds = claimMs / 1000 + 10

/**
 * A subscriber leaves by the link of an email; one who has left stays as they are. Who is on the list of the email
 * provider is taken off it too, and so is who may be: a push has them in hand, or died before it was recorded.
 */
export async function leaveNewsletter(ctx: Context, subscriberId: string): Promise<void> {
  if (!isId(subscriberId)) return
  const now = ctx.now()
  const left = await ctx.db
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
  if (!left?.push_due) return
  await ctx.queue(
    mailproviderPush,
    { subscriberId },
    left.push_claim ? { afterSeconds: claimOverSeconds } : {},
  )
}
