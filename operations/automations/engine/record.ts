/** Delivers a claimed batch, and records its results in one transaction (rule 5). */
import { outbox, readNumberUsage } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { extendHold, failureCodeByHold, type HoldReason } from '../deciding/holds.ts'
import { describeReason } from '../reasons.ts'
import type { Claim } from './claim.ts'
import { type ClaimedMessage, executions, type Message, toPending } from './outbox-source.ts'

/**
 * Sends the claimed messages. `isRetry` is true if a dead worker claimed them before, so they may already have been
 * sent.
 */
export const deliverBatch = (
  ctx: Context,
  { id: claimId, route: { connection, isIdempotent }, messages }: Claim,
  isRetry = false,
): Promise<outbox.DispatchReport<ClaimedMessage>> =>
  outbox.dispatch(ctx, executions, {
    connection,
    claimId,
    isIdempotent,
    isRetry,
    messages: messages.map((message) => ({
      message,
      phone: message.phone!,
      content: message.content!,
      // Messages sent by hand always use the official number.
      ...(message.isManual ? { via: 'official' } : {}),
    })),
  })

export interface MessageResult {
  message: Pick<Message, 'id'>
  outcome: outbox.Outcome
}

/**
 * Records the results of messages that still belong to this claim. A message that a status event has already ended
 * keeps its state.
 */
export async function recordResults(
  ctx: Context,
  { id, route }: Pick<Claim, 'id' | 'route'>,
  results: readonly MessageResult[],
): Promise<void> {
  const outcomes = new Map(results.map(({ message, outcome }) => [message.id, outcome]))
  const isFull = results.some(
    ({ outcome }) => outcome.kind === 'requeued' && outcome.because?.reason === 'number-limit',
  )
  await ctx.transaction(async (tx) => {
    const freeAt = isFull ? (await readNumberUsage(tx, route.connection.numberId)).nextFreeAt : null
    const resolveOutcome = (row: Message): Message | outbox.Outcome => {
      const outcome = outcomes.get(row.id)!
      return outcome.kind === 'requeued' && outcome.because
        ? toHeld(tx, row, outcome.because, freeAt)
        : outcome
    }
    await outbox.recordOutcomes(tx, executions, [...outcomes.keys()], resolveOutcome, id)
  })
}

/** Holds a message that the provider did not accept; fails it after a day of holds. */
function toHeld(
  tx: Context,
  row: Message,
  because: outbox.RequeueReason,
  freeAt: Date | null,
): Message | outbox.Outcome {
  const { holdReason: was, heldSince: since, heldMs, holdTries: tries } = row
  const reason = holdReasons[because.reason]
  const hold = extendHold({ reason: was, since, heldMs, tries }, reason, tx.now(), {
    ...(because.reason === 'number-limit' ? { freeAt } : {}),
    ...(because.reason === 'throttled' ? { afterMs: because.afterMs } : {}),
  })
  if (!hold) {
    const code = failureCodeByHold[reason]
    return { kind: 'failed', code, reason: describeReason(code) }
  }
  return toPending(row, {
    scheduledAt: hold.until,
    dueAt: row.dueAt ?? row.scheduledAt,
    holdReason: hold.reason,
    heldSince: hold.since,
    heldMs: Math.round(hold.heldMs),
    holdTries: hold.tries,
  })
}

const holdReasons: Readonly<Record<outbox.RequeueReason['reason'], HoldReason>> = {
  throttled: 'provider-unavailable',
  'provider-unavailable': 'provider-unavailable',
  'number-limit': 'number-limit',
  disconnected: 'not-connected',
}
