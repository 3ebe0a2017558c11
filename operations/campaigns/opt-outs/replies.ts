/** Replies that opt out (rule 5). */

import { isStopWord, optOuts } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'

const repliedWithinMs = 72 * hourMs
/** Providers tell the time of a reply in whole seconds, by their own clock. */
const clockSlackMs = minuteMs

/**
 * Opts the sender of an inbound message (E.164, at `at`) out when it is a stop word (rule 5), as an answer to the
 * last campaign that wrote to them within 72 hours before. Answers whether it was one.
 */
export async function fromReply(
  ctx: Context,
  phone: string,
  text: string,
  at: Date = ctx.now(),
): Promise<boolean> {
  if (!isStopWord(text)) return false
  const answered = await ctx.db
    .selectFrom('campaign_messages')
    .select('campaign_id')
    .where('phone_key', '=', phoneKey(phone))
    .where('sent_at', '>=', new Date(at.getTime() - repliedWithinMs))
    .where('sent_at', '<=', new Date(at.getTime() + clockSlackMs))
    .orderBy('sent_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  await optOuts.add(ctx, phone, 'reply', answered?.campaign_id ?? null)
  return true
}
