/** Messages whose worker died: what is known of them decides (rule 5). */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import type { Claim } from './claim.ts'
import { executions, type Message } from './lane.ts'
import { deliverBatch, recordResults } from './record.ts'
import { isWay, type Means, surroundingsOf, type Way } from './surroundings.ts'

/** The same key may be sent again for so long. */
const triedForMs = dayMs
const atATime = 200

/**
 * Settles claims of dead workers: those never called are pending again; the others are sent again under their key
 * where the provider knows it and they may still leave now, else given up after ten minutes without a word.
 */
export async function recoverDead(ctx: Context, means: Means): Promise<void> {
  const dead = await takeDead(ctx)
  if (!dead) return
  const wayOf = (message: Message): Way | null => {
    const way = message.isManual ? means.official : means.selected
    return isWay(way) ? way : null
  }
  const fates = await judgedAnew(ctx, means, dead.messages)
  for (const [way, messages] of Map.groupBy(dead.messages, wayOf)) {
    const again = messages.filter(({ id }) => fates.get(id) === 'leaves')
    const error = way?.isIdempotent ? await sendAgain(ctx, { id: dead.id, way, messages: again }) : null
    const waitsMs = (id: string): number =>
      way?.isIdempotent && fates.get(id) !== 'never' ? triedForMs : outbox.lostAfterMs
    await outbox.settle(
      ctx,
      executions,
      messages.map(({ id }) => id),
      ({ id, calledAt: at }) => (ctx.clock.ms() - +at! >= waitsMs(id) ? { is: 'lost', at: at! } : null),
      dead.id,
    )
    if (error) throw error
  }
}

/** Answers a fault of ours, to be thrown once what is known is written down. */
async function sendAgain(ctx: Context, claim: Claim): Promise<unknown> {
  const { told, error } = await deliverBatch(ctx, claim, true)
  await recordResults(ctx, claim, told)
  return error
}

type Fate = 'leaves' | 'later' | 'never'

/** What would become of them, were they due now: quiet hours, purchases, opt-outs since the call hold them, too. */
async function judgedAnew(
  ctx: Context,
  means: Means,
  messages: readonly Message[],
): Promise<Map<string, Fate>> {
  const rows = await readRows(
    ctx,
    messages.map(({ id }) => id),
  )
  const around = await surroundingsOf(ctx, means, rows)
  return new Map(
    rows.map((row) => {
      const { is } = decide(row, around)
      const isLater = is === 'wait' || is === 'held' || is === 'coupon'
      return [row.id, is === 'leaves' ? 'leaves' : isLater ? 'later' : 'never']
    }),
  )
}

async function takeDead(ctx: Context): Promise<{ id: string; messages: Message[] } | null> {
  return ctx.transaction(async (tx) => {
    const ids = await tx.db
      .selectFrom('automation_executions')
      .select('id')
      .where('status', '=', sql.lit('sending'))
      .where('claimed_at', '<=', new Date(tx.clock.ms() - outbox.deadAfterMs))
      .orderBy('claimed_at')
      .limit(atATime)
      .forUpdate()
      .skipLocked()
      .execute()
    if (ids.length === 0) return null
    const called: Message[] = []
    await outbox.settle(
      tx,
      executions,
      ids.map(({ id }) => id),
      (row) => {
        if (row.calledAt === null) return { is: 'back', because: null }
        called.push(row)
        return null
      },
    )
    if (called.length === 0) return null
    const id = tx.newId()
    await tx.db
      .updateTable('automation_executions')
      // `called_at` stays: for how long nobody has heard of it.
      .set({ claim_id: id, claimed_at: tx.now(), updated_at: tx.now() })
      .where('id', '=', sql<string>`any(${called.map((row) => row.id)}::uuid[])`)
      .execute()
    return { id, messages: called }
  })
}
