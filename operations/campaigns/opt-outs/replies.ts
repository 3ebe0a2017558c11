/** Opts people out who reply with a stop word (rule 5). */

import { isStopWord, optOuts } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'

const repliedWithinMs = 72 * hourMs
/** Tolerance for the time of a reply, which providers report in whole seconds and by their own clock. */
const clockSlackMs = minuteMs

/**
 * Opts out the sender (`phone`, E.164) of an inbound message if its text is a stop word (rule 5). Attributes the opt-out
 * to the last campaign that was sent to the phone in the 72 hours before. Returns whether the text was a stop word.
 */
export async function optOutByReply(
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
