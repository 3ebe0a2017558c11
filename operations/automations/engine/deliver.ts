/** A claimed batch on its way: handed over, one recipient's refusal stopping no other. */
import { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { ReasonCode } from '../reasons.ts'
import type { Claim, ClaimedMessage } from './claim.ts'

/** What became of one message; what is not told of stays claimed. */
export type Result = { message: ClaimedMessage } & (
  | { is: 'sent'; providerMessageId: string; at: Date }
  | { is: 'failed'; code: ReasonCode; reason: string }
  /** Certainly not accepted: pending again. */
  | { is: 'back'; because: 'throttled'; afterMs: number }
  | { is: 'back'; because: 'provider-unavailable' | 'number-limit' | 'not-connected' | 'stopped' }
  /** Nobody knows whether it left, and nobody will. */
  | { is: 'lost'; at: Date }
)

export interface Delivered {
  results: Result[]
  /** A fault of ours, to be thrown once the results are recorded. */
  error: unknown
}

/** Calls at once: a slow provider does not make a batch slow. On PGlite they take turns underneath. */
const atOnce = 16

/**
 * `isSecondCall`: claims of dead workers, which may have left already: only what is certain is told of them.
 */
export async function deliverBatch(
  ctx: Context,
  { id, way, messages }: Claim,
  isSecondCall = false,
): Promise<Delivered> {
  const delivered: Delivered = { results: [], error: null }
  const { results } = delivered
  const recipients = await sending.takeRecipients(
    ctx,
    way.connection,
    messages.filter(({ content }) => content.kind === 'template').map(({ phone }) => phone),
  )
  const waiting: ClaimedMessage[] = []
  for (const message of messages) {
    if (recipients.has(message.phone)) waiting.push(message)
    else results.push({ is: 'back', message, because: 'number-limit' })
  }
  let stop: 'provider-unavailable' | 'not-connected' | 'throttled' | null = null
  let throttledMs = 0
  const deliverOne = async (message: ClaimedMessage): Promise<void> => {
    if (!way.isIdempotent && !(await markCalled(ctx, id, message.id))) return
    // Before the call: what answers the message is never older than it.
    const at = ctx.now()
    const via = message.isManual ? { via: 'official' as const } : {}
    const { phone, content } = message
    const key = `au_${message.id}_${message.attempts}`
    const outcome = await sending.deliver(ctx, { phone, content, isCounted: true, ...via }, key)
    switch (outcome.outcome) {
      case 'accepted':
        results.push({ is: 'sent', message, at, providerMessageId: outcome.providerMessageId })
        return
      case 'refused':
        results.push({ is: 'failed', message, code: outcome.code, reason: outcome.message })
        return
      case 'retry':
        if (outcome.reason === 'throttled') {
          stop = 'throttled'
          throttledMs = outcome.afterMs
          results.push({ is: 'back', message, because: 'throttled', afterMs: outcome.afterMs })
        } else {
          if (outcome.reason === 'provider-unavailable') stop = outcome.reason
          results.push({ is: 'back', message, because: outcome.reason })
        }
        return
      case 'disconnected':
        stop = 'not-connected'
        results.push({ is: 'back', message, because: 'not-connected' })
        return
      case 'unknown':
        // Stays claimed: sent again under its key once the claim is dead, or proved by a status.
        stop ??= 'provider-unavailable'
    }
  }
  const inTurn = async (): Promise<void> => {
    for (let message = waiting.shift(); message; message = waiting.shift()) {
      if (stop || delivered.error) {
        waiting.unshift(message)
        return
      }
      try {
        await deliverOne(message)
      } catch (error) {
        delivered.error ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, inTurn))
  for (const message of waiting) {
    if (stop === 'throttled') {
      results.push({ is: 'back', message, because: 'throttled', afterMs: throttledMs })
    } else results.push({ is: 'back', message, because: stop ?? 'stopped' })
  }
  if (throttledMs > 0) {
    await sending.throttled(ctx, way.connection, new Date(ctx.clock.ms() + throttledMs))
  }
  const unsent = results.filter(({ is }) => is === 'back' || is === 'failed')
  await recipients.giveBack(unsent.map(({ message }) => message.phone))
  if (!isSecondCall) return delivered
  return { ...delivered, results: results.filter(({ is }) => is !== 'back') }
}

/** Written before a call whose key the provider does not know again. False: the claim is no longer ours. */
async function markCalled(ctx: Context, claimId: string, id: string): Promise<boolean> {
  const marked = await ctx.db
    .updateTable('automation_executions')
    .set({ called_at: ctx.now() })
    .where('id', '=', id)
    .where('claim_id', '=', claimId)
    .where('status', '=', 'sending')
    .returning('id')
    .execute()
  return marked.length > 0
}
