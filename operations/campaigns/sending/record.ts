/** What became of a batch, written down in one transaction. */
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { after, type CampaignMessage, campaignMessages, type Fate } from './lane.ts'

export interface Result {
  id: string
  fate: Fate
  /** As its recipient reads it. */
  text?: string
}

/** Of the messages that this claim still has: what a status has settled meanwhile stays, and gets its text. */
export async function recordResults(
  ctx: Context,
  claimId: string,
  results: readonly Result[],
): Promise<outbox.Move<CampaignMessage>[]> {
  if (results.length === 0) return []
  const byId = new Map(results.map((result) => [result.id, result]))
  return ctx.transaction(async (tx) => {
    const rows = await outbox.lock(tx, campaignMessages, [...byId.keys()])
    const moves = rows.flatMap((before) => {
      const { fate, text = before.text } = byId.get(before.id)!
      if (before.claimId === claimId) {
        const now = after(tx, before, fate)
        return [{ before, after: now.status === 'sent' || now.status === 'failed' ? { ...now, text } : now }]
      }
      return before.status === 'sending' || before.text !== null
        ? []
        : [{ before, after: { ...before, text } }]
    })
    await outbox.move(tx, campaignMessages, moves)
    return moves
  })
}
