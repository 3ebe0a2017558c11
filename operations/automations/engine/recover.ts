/** Messages whose worker died: what is known of them decides (rule 5). */
import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import type { Claim, ClaimedMessage } from './claim.ts'
import { deliverBatch, type Result } from './deliver.ts'
import { forgetUnits } from './endings.ts'
import { recordResults } from './record.ts'
import { queueAdvance } from './schedule.ts'
import { isWay, type Means, surroundingsOf, type Way } from './surroundings.ts'

/** A claim that is older belongs to a dead worker. */
export const deadAfterMs = 2 * 60_000
/** Without a word of it for so long, nobody will know whether a message left. */
const lostAfterMs = 10 * 60_000
/** The same key may be sent again for so long. */
const triedForMs = 24 * 3_600_000
const atATime = 200

interface DeadMessage extends ClaimedMessage {
  /** When it was first called. */
  called_at: Date
}

/**
 * Settles claims of dead workers: those never called are pending again; the others are sent again under their key
 * where the provider knows it and they may still leave now, else given up after ten minutes without a word.
 */
export async function recoverDead(ctx: Context, means: Means): Promise<void> {
  const dead = await takeDead(ctx)
  if (!dead) return
  const wayOf = (message: ClaimedMessage): Way | null => {
    const way = message.isManual ? means.official : means.selected
    return isWay(way) ? way : null
  }
  const fates = await judgedAnew(ctx, means, dead.messages)
  for (const [way, messages] of Map.groupBy(dead.messages, wayOf)) {
    const claim: Claim = { id: dead.id, way: way ?? nowhere, messages }
    const again = way?.isIdempotent ? messages.filter(({ id }) => fates.get(id) === 'leaves') : []
    const { results, error } =
      again.length > 0
        ? await deliverBatch(ctx, { ...claim, messages: again }, true)
        : { results: [], error: null }
    const settled = new Set(results.map(({ message }) => message.id))
    const waitsMs = (id: string): number =>
      way?.isIdempotent && fates.get(id) !== 'never' ? triedForMs : lostAfterMs
    const lost = messages
      .filter(({ id, called_at: at }) => !settled.has(id) && ctx.clock.ms() - at.getTime() >= waitsMs(id))
      .map((message): Result => ({ is: 'lost', message, at: message.called_at }))
    await recordResults(ctx, claim, [...results, ...lost])
    if (error) throw error
  }
}

type Fate = 'leaves' | 'later' | 'never'

/** What would become of them, were they due now: quiet hours, purchases, opt-outs since the call hold them, too. */
async function judgedAnew(
  ctx: Context,
  means: Means,
  messages: readonly ClaimedMessage[],
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

async function takeDead(ctx: Context): Promise<{ id: string; messages: DeadMessage[] } | null> {
  return ctx.transaction(async (tx) => {
    const rows = await tx.db
      .selectFrom('automation_executions as e')
      .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
      .innerJoin('automations as a', 'a.id', 'e.automation_id')
      .select([
        'e.id',
        'e.run_id',
        'e.automation_id',
        'a.name as automation_name',
        'a.type as automation_type',
        'e.sequence',
        'e.step_id',
        'r.flow_version',
        'e.phone',
        'e.text',
        'e.coupon_code',
        'e.message as content',
        sql<boolean>`r.origin = 'manual'`.as('isManual'),
        'e.reservation_id',
        'e.attempts',
        'e.called_at',
        'e.is_forced',
        'e.scheduled_at',
      ])
      .where('e.status', '=', sql.lit('sending'))
      .where('e.claimed_at', '<=', new Date(tx.clock.ms() - deadAfterMs))
      .orderBy('e.claimed_at')
      .limit(atATime)
      .forUpdate('e')
      .skipLocked()
      .execute()
    if (rows.length === 0) return null
    const uncalled = rows.filter((row) => row.called_at === null)
    await putBack(tx, uncalled)
    const called = rows.filter((row) => row.called_at !== null)
    if (called.length === 0) return null
    const id = tx.newId()
    await tx.db
      .updateTable('automation_executions')
      // `called_at` stays: for how long nobody has heard of it.
      .set({ claim_id: id, claimed_at: tx.now(), updated_at: tx.now() })
      .where('id', '=', sql<string>`any(${called.map((row) => row.id)}::uuid[])`)
      .execute()
    return {
      id,
      messages: called.map((row) => ({
        ...row,
        phone: row.phone!,
        text: row.text ?? '',
        content: row.content as sending.Content,
        reservation_id: row.reservation_id!,
        called_at: row.called_at!,
      })),
    }
  })
}

/** Never called: as before, those of `run` at once. */
async function putBack(
  tx: Context,
  rows: readonly { id: string; reservation_id: string | null; is_forced: boolean; scheduled_at: Date }[],
): Promise<void> {
  if (rows.length === 0) return
  const now = tx.now()
  await tx.db
    .updateTable('automation_executions')
    .set({
      status: 'pending',
      scheduled_at: sql<Date>`case when is_forced then ${now}::timestamptz else scheduled_at end`,
      message: null,
      text: null,
      officialapi_template_id: null,
      coupon_code: null,
      claim_id: null,
      claimed_at: null,
      updated_at: now,
    })
    .where('id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .execute()
  await forgetUnits(tx, rows)
  await queueAdvance(
    tx,
    rows.map((row) => (row.is_forced ? now : row.scheduled_at)),
  )
}
