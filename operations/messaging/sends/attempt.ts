/** One try of a claimed single send, and what follows from its outcome (rule 5). */
import { entitlementOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { check } from '../sending/check.ts'
import { errorOf } from '../sending/codes.ts'
import * as sending from '../sending/deliver.ts'
import { putOff, recordFailed, recordLost, recordSent } from './results.ts'
import { keyOf, messageOf, type SendRow } from './rows.ts'

/** A claim of a process that died. */
export const deadAfterMs = 2 * 60_000
const givenUpAfterMs = 10 * 60_000
const retriesAfterMs = [5_000, 30_000, 120_000]
/** Of the number's rate; campaigns have the rest. */
const share = 0.2

/** Takes a queued message whose last holder is through with it, or `isOurs`: died for certain. Null when it is not free. */
export async function claimSend(ctx: Context, id: string, isOurs = false): Promise<SendRow | null> {
  const now = ctx.now()
  const dead = new Date(now.getTime() - deadAfterMs)
  const claimed = await ctx.db
    .updateTable('direct_messages')
    .set({ claimed_at: now, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .$if(!isOurs, (query) =>
      query.where((eb) => eb.or([eb('claimed_at', 'is', null), eb('claimed_at', '<=', dead)])),
    )
    .returningAll()
    .executeTakeFirst()
  return claimed ?? null
}

/** Looks at a message that is queued still: sends it again where that is safe, or waits, or ends it. */
export async function settleSend(ctx: Context, id: string, isOurs = false): Promise<void> {
  const row = await claimSend(ctx, id, isOurs)
  if (!row) return
  const isIdempotent = await isIdempotentFor(ctx, row)
  // A claim that died after its call: nobody knows what came of it.
  const mayHaveLeft = row.may_have_left || (row.called_at !== null && row.next_try_at === null)
  const since = row.called_at ?? row.created_at
  const overAt = new Date(since.getTime() + givenUpAfterMs)
  if (ctx.now() >= overAt) return giveUp(ctx, { ...row, may_have_left: mayHaveLeft })
  if (mayHaveLeft && !isIdempotent) return putOff(ctx, row, overAt, { mayHaveLeft })
  if (!mayHaveLeft) {
    const objection = (await entitlementOf(ctx)).canWrite
      ? await check(ctx, messageOf(row))
      : {
          code: 'subscription-inactive' as const,
          message: 'The subscription does not allow messages any more',
        }
    if (objection) return recordFailed(ctx, row, errorOf(objection))
  }
  await trySend(ctx, { ...row, may_have_left: mayHaveLeft }, isIdempotent)
}

const isIdempotentFor = async (ctx: Context, row: SendRow): Promise<boolean> =>
  sending.isIdempotent(ctx, row.via === 'official' ? 'official' : undefined)

async function giveUp(ctx: Context, row: SendRow): Promise<void> {
  if (row.may_have_left) return recordLost(ctx, row)
  return recordFailed(ctx, row, {
    code: 'provider-error',
    message: 'The messaging provider took nothing for ten minutes',
  })
}

/** Hands a claimed message to the provider once, at the number's pace. */
export async function trySend(ctx: Context, row: SendRow, isIdempotent: boolean): Promise<void> {
  const message = messageOf(row)
  const connection = await sending.connectionFor(ctx, message.via)
  if (connection) {
    const turn = await sending.takeTurn(ctx, connection, 1, share)
    if (!(await sending.reaches(ctx, turn))) {
      return putOff(ctx, row, turn, { mayHaveLeft: row.may_have_left })
    }
  }
  const calledAt = await markCalled(ctx, row)
  const outcome = await sending.deliver(ctx, message, keyOf(row.id))
  const nextAt = nextTry(ctx, row, isIdempotent)
  switch (outcome.outcome) {
    case 'accepted':
      return recordSent(ctx, row, outcome.providerMessageId, calledAt)
    case 'refused':
      return recordFailed(ctx, row, outcome)
    case 'disconnected':
      if (row.may_have_left) return putOff(ctx, row, nextAt ?? calledAt, { mayHaveLeft: true })
      return recordFailed(ctx, row, { code: 'disconnected', message: 'No number that can send is connected' })
    case 'retry':
      if (outcome.reason === 'number-limit') {
        return recordFailed(ctx, row, {
          code: 'number-limit',
          message: 'The number has written to as many people in 24 hours as it may: try again later',
        })
      }
      if (outcome.reason === 'throttled' && connection) {
        await sending.throttled(ctx, connection, new Date(ctx.clock.ms() + outcome.afterMs))
      }
      if (!nextAt) return giveUp(ctx, row)
      return putOff(ctx, row, nextAt, { mayHaveLeft: row.may_have_left })
    case 'unknown':
      return putOff(ctx, row, nextAt ?? new Date(calledAt.getTime() + givenUpAfterMs), { mayHaveLeft: true })
  }
}

/** Five, thirty, 120 seconds after a try; then every two minutes where the provider knows the key again, else never. */
function nextTry(ctx: Context, row: SendRow, isIdempotent: boolean): Date | null {
  const afterMs = retriesAfterMs[row.attempts] ?? (isIdempotent ? retriesAfterMs.at(-1)! : null)
  return afterMs === null ? null : new Date(ctx.clock.ms() + afterMs)
}

/** Written down before the call: if this process dies in it, the message may have left. Answers when it was. */
async function markCalled(ctx: Context, row: SendRow): Promise<Date> {
  const now = ctx.now()
  await ctx.db
    .updateTable('direct_messages')
    .set((eb) => ({
      called_at: eb.fn.coalesce('called_at', eb.val(now)),
      next_try_at: null,
      attempts: eb('attempts', '+', 1),
    }))
    .where('id', '=', row.id)
    .where('status', '=', 'queued')
    .execute()
  return now
}
