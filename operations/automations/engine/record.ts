/** A claimed batch on its way, and what became of it, in one transaction (rule 5). */
import { numberUsage, outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { codeOfHold, type HoldReason, holdOn } from '../deciding/holds.ts'
import { reasonOf } from '../reasons.ts'
import type { Claim } from './claim.ts'
import { type Claimed, executions, type Message, pendingAgain } from './lane.ts'

/** `isSecondCall`: claims of dead workers, which may have left already. */
export const deliverBatch = (
  ctx: Context,
  { id: claimId, way: { connection, isIdempotent }, messages }: Claim,
  isSecondCall = false,
): Promise<outbox.Handed<Claimed>> =>
  outbox.handOver(ctx, executions, {
    connection,
    claimId,
    isIdempotent,
    isSecondCall,
    letters: messages.map((message) => ({
      message,
      phone: message.phone!,
      content: message.content!,
      // By hand it leaves through the official number, whatever is selected.
      ...(message.isManual ? { via: 'official' } : {}),
    })),
  })

export interface Result {
  message: Pick<Message, 'id'>
  told: outbox.Fate
}

/** Records results of the messages that this claim still has: what a status event has settled meanwhile stays. */
export async function recordResults(
  ctx: Context,
  { id, way }: Pick<Claim, 'id' | 'way'>,
  results: readonly Result[],
): Promise<void> {
  const toldOf = new Map(results.map(({ message, told }) => [message.id, told]))
  const isFull = results.some(({ told }) => told.is === 'back' && told.because?.reason === 'number-limit')
  await ctx.transaction(async (tx) => {
    const freeAt = isFull ? (await numberUsage(tx, way.connection.numberId)).nextFreeAt : null
    const fateOf = (row: Message): Message | outbox.Fate => {
      const told = toldOf.get(row.id)!
      return told.is === 'back' && told.because ? held(tx, row, told.because, freeAt) : told
    }
    await outbox.settle(tx, executions, [...toldOf.keys()], fateOf, id)
  })
}

/** Pending again, for later; given up after a day. */
function held(
  tx: Context,
  row: Message,
  because: outbox.Trouble,
  freeAt: Date | null,
): Message | outbox.Fate {
  const { holdReason: was, heldSince: since, heldMs, holdTries: tries } = row
  const reason = reasonsOf[because.reason]
  const hold = holdOn({ reason: was, since, heldMs, tries }, reason, tx.now(), {
    ...(because.reason === 'number-limit' ? { freeAt } : {}),
    ...(because.reason === 'throttled' ? { afterMs: because.afterMs } : {}),
  })
  if (!hold) {
    const code = codeOfHold[reason]
    return { is: 'failed', code, reason: reasonOf(code) }
  }
  return pendingAgain(row, {
    scheduledAt: hold.until,
    dueAt: row.dueAt ?? row.scheduledAt,
    holdReason: hold.reason,
    heldSince: hold.since,
    heldMs: Math.round(hold.heldMs),
    holdTries: hold.tries,
  })
}

const reasonsOf: Readonly<Record<outbox.Trouble['reason'], HoldReason>> = {
  throttled: 'provider-unavailable',
  'provider-unavailable': 'provider-unavailable',
  'number-limit': 'number-limit',
  disconnected: 'not-connected',
}
