/** A claimed batch on its way: looked at again, rendered, handed over, one recipient's refusal stopping no other. */
import { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { CampaignContent, CampaignStatus, FailureCode, SkipReason } from '../schema.ts'
import { failureCode } from '../schema.ts'
import { type Claim, type ClaimedMessage, lookAgain, markCalled } from './claims.ts'
import type { Means } from './readiness.ts'
import { type Rendered, renderMessage, valuesOf } from './render.ts'

/** What became of one message; what is not told of stays claimed. */
export type Result = { message: ClaimedMessage; text?: string } & (
  | { is: 'sent'; providerMessageId: string; at: Date }
  | { is: 'failed'; code: FailureCode; reason: string }
  | { is: 'skipped'; reason: SkipReason }
  /** Never left: as it was before. */
  | { is: 'back' }
  /** Nobody knows whether it left, and nobody will. */
  | { is: 'lost' }
)

/** Why a batch stopped before its end. */
export type Trouble =
  | { reason: 'throttled'; afterMs: number }
  | { reason: 'provider-unavailable' | 'number-limit' | 'connection-lost' }

export interface Delivered {
  results: Result[]
  trouble: Trouble | null
  /** A fault of ours, to be thrown once the results are recorded. */
  error: unknown
}

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

/** Calls at once: a slow provider does not make a batch slow. On PGlite they take turns underneath. */
const atOnce = 16

export async function deliverBatch(ctx: Context, batch: Batch): Promise<Delivered> {
  const delivered = await deliver(ctx, batch)
  if (!batch.isSecondCall) return delivered
  return { ...delivered, results: delivered.results.filter(({ is }) => is !== 'back') }
}

async function deliver(ctx: Context, batch: Batch): Promise<Delivered> {
  const { campaign, means, claim } = batch
  const seen = await lookAgain(ctx, campaign.id, claim.messages)
  if (!batch.leavesWhile(seen.status)) {
    return { results: claim.messages.map((message) => ({ is: 'back', message })), trouble: null, error: null }
  }
  const delivered: Delivered = { results: [], trouble: null, error: null }
  const leaving: { message: ClaimedMessage; rendered: Rendered }[] = []
  for (const message of claim.messages) {
    if (seen.optedOut.has(message.phone_key)) {
      delivered.results.push({ is: 'skipped', message, reason: 'opted-out' })
      continue
    }
    const values = valuesOf(message, ctx.store)
    const rendered = renderMessage(campaign.content, means.template, means.connection, values)
    if (rendered.skip) delivered.results.push({ is: 'skipped', message, reason: rendered.skip })
    else leaving.push({ message, rendered })
  }

  const recipients = await sending.takeRecipients(
    ctx,
    means.connection,
    means.template ? leaving.map(({ message }) => message.phone) : [],
  )
  const allowed = leaving.filter(({ message }) => recipients.has(message.phone))
  let next = 0
  const sendInTurn = async (): Promise<void> => {
    while (next < allowed.length && !delivered.trouble && !delivered.error) {
      const { message, rendered } = allowed[next]!
      next += 1
      try {
        await deliverOne(ctx, batch, message, rendered, delivered)
      } catch (error) {
        delivered.error ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, allowed.length) }, sendInTurn))
  for (const { message } of allowed.slice(next)) delivered.results.push({ is: 'back', message })
  const unsent = delivered.results.filter(({ is }) => is !== 'sent' && is !== 'lost')
  await recipients.giveBack(unsent.map(({ message }) => message.phone))
  if (allowed.length < leaving.length) {
    delivered.trouble ??= { reason: 'number-limit' }
    for (const { message } of leaving.filter(({ message: { phone } }) => !recipients.has(phone))) {
      delivered.results.push({ is: 'back', message })
    }
  }
  return delivered
}

async function deliverOne(
  ctx: Context,
  { claim, isIdempotent }: Batch,
  message: ClaimedMessage,
  { content, text }: Rendered,
  delivered: Delivered,
): Promise<void> {
  if (!isIdempotent && !(await markCalled(ctx, claim.id, message.id))) return
  // Before the call: what answers the message is never older than it.
  const at = ctx.now()
  const key = `cm_${message.id}_${message.generation}`
  const outcome = await sending.deliver(ctx, { phone: message.phone, content, isCounted: true }, key)
  const { results } = delivered
  switch (outcome.outcome) {
    case 'accepted':
      results.push({ is: 'sent', message, text, at, providerMessageId: outcome.providerMessageId })
      return
    case 'refused':
      if (outcome.code === 'too-long') results.push({ is: 'skipped', message, reason: 'too-long' })
      else {
        const code = failureCode.safeParse(outcome.code)
        results.push({
          is: 'failed',
          message,
          text,
          code: code.success ? code.data : 'provider-error',
          reason: outcome.message,
        })
      }
      return
    case 'retry':
      results.push({ is: 'back', message })
      delivered.trouble ??=
        outcome.reason === 'throttled'
          ? { reason: 'throttled', afterMs: outcome.afterMs }
          : { reason: outcome.reason }
      return
    case 'disconnected':
      results.push({ is: 'back', message })
      delivered.trouble ??= { reason: 'connection-lost' }
      return
    case 'unknown':
      // Stays claimed: sent again under its key once the claim is dead, or proved by a status.
      delivered.trouble ??= { reason: 'provider-unavailable' }
  }
}
