/** Messages whose worker died: what is known of them decides (rule 5). */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import type { Claim } from './claim.ts'
import { executions, type Message, pendingAgain } from './lane.ts'
import { deliverBatch, type Result, recordResults } from './record.ts'
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
    const claim: Claim = { id: dead.id, way: way ?? nowhere, messages }
    const again = way?.isIdempotent ? messages.filter(({ id }) => fates.get(id) === 'leaves') : []
    const handed =
      again.length > 0
        ? await deliverBatch(ctx, { ...claim, messages: again }, true)
        : { told: [], error: null }
    const settled = new Set(handed.told.map(({ message }) => message.id))
    const waitsMs = (id: string): number =>
      way?.isIdempotent && fates.get(id) !== 'never' ? triedForMs : outbox.lostAfterMs
    const lost = messages.flatMap((message): Result[] => {
      const at = message.calledAt!
      const isLost = !settled.has(message.id) && ctx.clock.ms() - at.getTime() >= waitsMs(message.id)
      return isLost ? [{ message, told: { is: 'lost', at } }] : []
    })
    await recordResults(ctx, claim, [...handed.told, ...lost])
    if (handed.error) throw handed.error
  }
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

/** Of what cannot leave: nothing is asked of it. */
const nowhere: Way = {
  connection: { type: 'qr', numberId: '', phone: null },
  isIdempotent: false,
  perSecond: 1,
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
        // Never called: as before, those of `run` at once.
        if (row.calledAt === null) return pendingAgain(row, row.isForced ? { scheduledAt: tx.now() } : {})
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
