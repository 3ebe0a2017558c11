/** A claimed batch on its way: looked at again, rendered, handed over. */
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { CampaignContent, CampaignStatus } from '../schema.ts'
import { type Claim, lookAgain } from './claims.ts'
import { campaignMessages } from './lane.ts'
import type { Means } from './readiness.ts'
import type { Result } from './record.ts'
import { renderMessage, valuesOf } from './render.ts'

export interface Batch {
  campaign: { id: string; content: CampaignContent }
  means: Means
  claim: Claim
  isIdempotent: boolean
  /** Claims of dead workers: they may have left already, so they never become pending again. */
  isSecondCall: boolean
  /** In which states of the campaign the messages may leave. */
  leavesWhile(status: CampaignStatus | 'deleted'): boolean
}

export interface Delivered extends Pick<outbox.Handed<never>, 'trouble' | 'error'> {
  results: Result[]
}

export async function deliverBatch(ctx: Context, batch: Batch): Promise<Delivered> {
  const { campaign, means, claim, isIdempotent, isSecondCall } = batch
  const seen = await lookAgain(ctx, campaign.id, claim.messages)
  if (!batch.leavesWhile(seen.status)) {
    const results = claim.messages.map(({ id }): Result => ({ id, fate: { is: 'back', because: null } }))
    return { results: isSecondCall ? [] : results, trouble: null, error: null }
  }
  const results: Result[] = []
  const letters: outbox.Letter<{ id: string; attempt: number; text: string }>[] = []
  for (const message of claim.messages) {
    const { id, phone, phone_key, generation: attempt } = message
    const values = valuesOf(message, ctx.store)
    const { skip, content, text } = renderMessage(campaign.content, means.template, means.connection, values)
    const reason = seen.optedOut.has(phone_key) ? 'opted-out' : skip
    if (reason) results.push({ id, fate: { is: 'skipped', reason } })
    else letters.push({ message: { id, attempt, text }, phone, content })
  }
  const { told, trouble, error } = await outbox.handOver(ctx, campaignMessages, {
    letters,
    connection: means.connection,
    claimId: claim.id,
    isIdempotent,
    isSecondCall,
  })
  for (const { message, told: fate } of told) results.push({ id: message.id, fate, text: message.text })
  return { results, trouble, error }
}
