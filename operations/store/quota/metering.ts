/** Message quota: one conditional update decides, so two sends at the last unit never both pass (rule 7). */
import { sql } from 'kysely'
import { notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { currentCycle, cycleNow, openCycle } from './cycles.ts'
import {
  addToLedger,
  applyStatuses,
  type LedgerRow,
  type MessageSource,
  type StatusChange,
} from './ledger.ts'

export type { LedgerRow, MessageSource, StatusChange }

/**
 * Takes `units` of the cycle that holds now. Throws `forbidden` naming what is asked and what is left; takes
 * nothing then. Answers the reservation's id.
 */
export async function reserve(ctx: Context, units: number, source: MessageSource): Promise<string> {
  const taken =
    (await take(ctx, units, source)) ?? ((await openCycle(ctx)) && (await take(ctx, units, source)))
  if (taken) return taken
  throw quotaExceeded(units, (await usage(ctx)).remaining)
}

async function take(ctx: Context, units: number, source: MessageSource): Promise<string | null> {
  const now = ctx.now()
  const row = await ctx.db
    .with('cycle', (db) =>
      db
        .updateTable('usage_cycles')
        .set((eb) => ({ reserved: eb('reserved', '+', units), updated_at: now }))
        .where('starts_at', '=', currentCycle(db, now))
        .where(sql<boolean>`used + reserved + ${units}::integer <= message_limit`)
        .returning('usage_cycles.starts_at'),
    )
    .with('reservation', (db) =>
      db
        .insertInto('usage_reservations')
        .columns(['id', 'cycle_starts_at', 'source', 'units', 'created_at', 'updated_at'])
        .expression((eb) =>
          eb
            .selectFrom('cycle')
            .select([
              sql<string>`${ctx.newId()}::uuid`.as('id'),
              'cycle.starts_at',
              sql<string>`${source}::text`.as('source'),
              sql<number>`${units}::integer`.as('units'),
              sql<Date>`${now}::timestamptz`.as('created_at'),
              sql<Date>`${now}::timestamptz`.as('updated_at'),
            ]),
        )
        .returning('usage_reservations.id'),
    )
    .selectFrom('reservation')
    .select('reservation.id')
    .executeTakeFirst()
  return row?.id ?? null
}

function quotaExceeded(units: number, left: number): Error {
  const isOrAre = (n: number): string => (n === 1 ? '1 is' : `${n} are`)
  return refuse(
    'forbidden',
    `Not enough messages left in this cycle: ${isOrAre(units)} needed and ${isOrAre(left)} left`,
  )
}

/**
 * Brings what a reservation still holds to `units`, in the cycle it was made in; throws `forbidden` when that
 * cycle has not that many.
 */
export async function resize(ctx: Context, reservationId: string, units: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const held = await lockReservation(tx, reservationId)
    const more = units - held.units
    if (more === 0) return
    const now = tx.now()
    const moved = await tx.db
      .updateTable('usage_cycles')
      .set((eb) => ({ reserved: eb('reserved', '+', more), updated_at: now }))
      .where('starts_at', '=', held.cycle_starts_at)
      .$if(more > 0, (query) =>
        query.where(sql<boolean>`used + reserved + ${more}::integer <= message_limit`),
      )
      .returning('starts_at')
      .executeTakeFirst()
    if (!moved) throw quotaExceeded(units, held.units + (await leftIn(tx, held.cycle_starts_at)))
    await tx.db
      .updateTable('usage_reservations')
      .set({ units, updated_at: now })
      .where('id', '=', reservationId)
      .execute()
  })
}

async function leftIn(tx: Context, cycleStartsAt: Date): Promise<number> {
  const { left } = await tx.db
    .selectFrom('usage_cycles')
    .select(greatest<number>(sql`message_limit - used - reserved`, sql`0`).as('left'))
    .where('starts_at', '=', cycleStartsAt)
    .executeTakeFirstOrThrow()
  return left
}

/** The provider accepted: reserved − 1 and used + 1 for each row that is new, and its ledger row. */
export async function commit(ctx: Context, reservationId: string, rows: LedgerRow[]): Promise<void> {
  if (rows.length === 0) return
  await ctx.transaction(async (tx) => {
    const held = await lockReservation(tx, reservationId)
    const added = await addToLedger(tx, rows, held.cycle_starts_at)
    if (added > 0) await settle(tx, reservationId, added, added)
  })
}

/** Emails: ledger rows alone. */
export async function record(ctx: Context, rows: LedgerRow[]): Promise<void> {
  if (rows.length > 0) await addToLedger(ctx, rows, null)
}

/** Gives back units that never left; at most what the reservation still holds. */
export async function release(ctx: Context, reservationId: string, units: number): Promise<void> {
  if (units > 0) await ctx.transaction((tx) => settle(tx, reservationId, units, 0))
}

/** The reservation lets go of `units`, and its own cycle counts `used` more. */
async function settle(tx: Context, reservationId: string, units: number, used: number): Promise<void> {
  const now = tx.now()
  const held = await lockReservation(tx, reservationId)
  const freed = Math.min(units, held.units)
  if (freed > 0) {
    await tx.db
      .updateTable('usage_reservations')
      .set((eb) => ({ units: eb('units', '-', freed), updated_at: now }))
      .where('id', '=', reservationId)
      .execute()
  }
  if (freed === 0 && used === 0) return
  const cycle = await tx.db
    .updateTable('usage_cycles')
    .set((eb) => ({
      used: eb('used', '+', used),
      reserved: eb('reserved', '-', freed),
      updated_at: now,
    }))
    .where('starts_at', '=', held.cycle_starts_at)
    .returning(['starts_at', 'used', 'message_limit'])
    .executeTakeFirstOrThrow()
  await tellOfQuota(tx, cycle, cycle.used - used)
}

async function lockReservation(tx: Context, id: string) {
  return tx.db
    .selectFrom('usage_reservations')
    .select(['units', 'cycle_starts_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(() => new Error(`No reservation ${id}`))
}

const marks = [
  { percent: 80, level: 'warning', title: '80% of your messages are used' },
  { percent: 100, level: 'error', title: 'All your messages are used' },
] as const

/** One notification a cycle at 80 and at 100 percent. */
async function tellOfQuota(
  tx: Context,
  cycle: { starts_at: Date; used: number; message_limit: number },
  before: number,
): Promise<void> {
  for (const { percent, level, title } of marks) {
    const at = (cycle.message_limit * percent) / 100
    if (before >= at || cycle.used < at) continue
    const message = `${cycle.used} of the ${cycle.message_limit} messages of this cycle are used.`
    await notify(tx, {
      type: `quota-${percent}`,
      level,
      title,
      message: percent < 100 ? message : `${message} None leaves before the next cycle or a larger plan.`,
      data: { used: cycle.used, limit: cycle.message_limit, cycleStart: cycle.starts_at.toISOString() },
      dedupeKey: `quota-${percent}:${cycle.starts_at.toISOString()}`,
    })
  }
}

/** What became of messages; only moves forward. */
export const status: (ctx: Context, changes: StatusChange[]) => Promise<void> = applyStatuses

/** Limit, used and reserved of the cycle that holds now. */
export async function usage(
  ctx: Context,
): Promise<{ limit: number; used: number; reserved: number; remaining: number }> {
  const { limit, used, reserved } = await cycleNow(ctx)
  return { limit, used, reserved, remaining: Math.max(0, limit - used - reserved) }
}
