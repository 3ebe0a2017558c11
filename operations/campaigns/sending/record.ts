/** Records the results of a batch in one transaction. */
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import {
  applyOutcome,
  type CampaignMessage,
  type CampaignOutcome,
  campaignMessages,
} from './outbox-source.ts'

export interface MessageResult {
  id: string
  outcome: CampaignOutcome
  /** The rendered text. */
  text?: string
}

/**
 * Applies each outcome if the message still belongs to this claim. A message that a status event has ended meanwhile
 * keeps its state and only gets its rendered text.
 */
export async function recordResults(
  ctx: Context,
  claimId: string,
  results: readonly MessageResult[],
): Promise<outbox.Transition<CampaignMessage>[]> {
  if (results.length === 0) return []
  const byId = new Map(results.map((result) => [result.id, result]))
  return ctx.transaction(async (tx) => {
    const rows = await outbox.lockMessages(tx, campaignMessages, [...byId.keys()])
    const moves = rows.flatMap((before) => {
      const { outcome, text = before.text } = byId.get(before.id)!
      if (before.claimId === claimId) {
        const now = applyOutcome(tx, before, outcome)
        return [{ before, after: now.status === 'sent' || now.status === 'failed' ? { ...now, text } : now }]
      }
      return before.status === 'sending' || before.text !== null
        ? []
        : [{ before, after: { ...before, text } }]
    })
    await outbox.applyTransitions(tx, campaignMessages, moves)
    return moves
  })
}
