/** Delivers a claimed batch: rechecks the campaign and opt-outs, renders the messages and dispatches them. */
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import type { CampaignContent, CampaignStatus } from '../schema.ts'
import { type Claim, recheckBatch } from './claims.ts'
import { campaignMessages } from './outbox-source.ts'
import type { SendContext } from './readiness.ts'
import type { MessageResult } from './record.ts'
import { buildValues, renderMessage } from './render.ts'

export interface Batch {
  campaign: { id: string; content: CampaignContent }
  sendContext: SendContext
  claim: Claim
  isIdempotent: boolean
  /**
   * True if a dead worker claimed the messages before. They may already have been sent, so they never become pending
   * again.
   */
  isSecondCall: boolean
  /** Whether the messages may be sent while the campaign has this status. */
  canSendWhile(status: CampaignStatus | 'deleted'): boolean
}

export interface DeliveryResult extends Pick<outbox.DispatchReport<never>, 'stoppedBy' | 'error'> {
  results: MessageResult[]
}

export async function deliverBatch(ctx: Context, batch: Batch): Promise<DeliveryResult> {
  const { campaign, sendContext, claim, isIdempotent, isSecondCall } = batch
  const seen = await recheckBatch(ctx, campaign.id, claim.messages)
  if (!batch.canSendWhile(seen.status)) {
    const results = claim.messages.map(
      ({ id }): MessageResult => ({ id, outcome: { kind: 'requeued', because: null } }),
    )
    return { results: isSecondCall ? [] : results, stoppedBy: null, error: null }
  }
  const results: MessageResult[] = []
  const outgoing: outbox.OutgoingMessage<{ id: string; attempt: number; text: string }>[] = []
  for (const message of claim.messages) {
    const { id, phone, phone_key, generation: attempt } = message
    const values = buildValues(message, ctx.store)
    const { skip, content, text } = renderMessage(
      campaign.content,
      sendContext.template,
      sendContext.connection,
      values,
    )
    const reason = seen.optedOut.has(phone_key) ? 'opted-out' : skip
    if (reason) results.push({ id, outcome: { kind: 'skipped', reason } })
    else outgoing.push({ message: { id, attempt, text }, phone, content })
  }
  const {
    results: dispatched,
    stoppedBy,
    error,
  } = await outbox.dispatch(ctx, campaignMessages, {
    messages: outgoing,
    connection: sendContext.connection,
    claimId: claim.id,
    isIdempotent,
    isRetry: isSecondCall,
  })
  for (const { message, outcome } of dispatched) results.push({ id: message.id, outcome, text: message.text })
  return { results, stoppedBy, error }
}
