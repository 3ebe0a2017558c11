/**
 * Meters the message quota (rule 7). One conditional update decides whether units are available, so two concurrent sends
 * cannot both take the last unit.
 */
import { sql } from 'kysely'
import { notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { currentCycle, openCycle, readCurrentCycle } from './cycles.ts'
import {
  addToLedger,
  applyStatuses,
  type LedgerRow,
  type MessageSource,
  type StatusChange,
} from './ledger.ts'

export type { LedgerRow, MessageSource, StatusChange }

/**
 * Reserves `units` of the current cycle and returns the reservation's id. If there are too few units, reserves nothing and
 * throws `forbidden` with the needed and remaining units.
 */
export async function reserve(ctx: Context, units: number, source: MessageSource): Promise<string> {
  const reserved =
    (await tryReserve(ctx, units, source)) ??
    ((await openCycle(ctx)) && (await tryReserve(ctx, units, source)))
  if (reserved) return reserved
  throw quotaExceeded(units, (await readUsage(ctx)).remaining)
}

async function tryReserve(ctx: Context, units: number, source: MessageSource): Promise<string | null> {
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

function quotaExceeded(units: number, remaining: number): Error {
  const isOrAre = (n: number): string => (n === 1 ? '1 is' : `${n} are`)
  return refuse(
    'forbidden',
    `Not enough messages left in this cycle: ${isOrAre(units)} needed and ${isOrAre(remaining)} left`,
  )
}

/**
 * Changes the open units of a reservation to `units`, in the cycle of the reservation. Throws `forbidden` if that cycle has
 * too few units.
 */
export async function resize(ctx: Context, reservationId: string, units: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const reservation = await lockReservation(tx, reservationId)
    const more = units - reservation.units
    if (more === 0) return
    const now = tx.now()
    const moved = await tx.db
      .updateTable('usage_cycles')
      .set((eb) => ({ reserved: eb('reserved', '+', more), updated_at: now }))
      .where('starts_at', '=', reservation.cycle_starts_at)
      .$if(more > 0, (query) =>
        query.where(sql<boolean>`used + reserved + ${more}::integer <= message_limit`),
      )
      .returning('starts_at')
      .executeTakeFirst()
    if (!moved)
      throw quotaExceeded(units, reservation.units + (await readRemaining(tx, reservation.cycle_starts_at)))
    await tx.db
      .updateTable('usage_reservations')
      .set({ units, updated_at: now })
      .where('id', '=', reservationId)
      .execute()
  })
}

async function readRemaining(tx: Context, cycleStartsAt: Date): Promise<number> {
  const { left } = await tx.db
    .selectFrom('usage_cycles')
    .select(greatest<number>(sql`message_limit - used - reserved`, sql`0`).as('left'))
    .where('starts_at', '=', cycleStartsAt)
    .executeTakeFirstOrThrow()
  return left
}

/**
 * Call it when the provider has accepted messages. Writes their ledger rows, and for each new row moves a unit from reserved
 * to used.
 */
export async function commit(ctx: Context, reservationId: string, rows: LedgerRow[]): Promise<void> {
  if (rows.length === 0) return
  await ctx.transaction(async (tx) => {
    const reservation = await lockReservation(tx, reservationId)
    const added = await addToLedger(tx, rows, reservation.cycle_starts_at)
    if (added > 0) await moveUnits(tx, reservationId, added, added)
  })
}

/** Writes the ledger rows of emails, which use no quota. */
export async function recordEmails(ctx: Context, rows: LedgerRow[]): Promise<void> {
  if (rows.length > 0) await addToLedger(ctx, rows, null)
}

/** Releases units that were not sent, at most the reservation's open units. */
export async function release(ctx: Context, reservationId: string, units: number): Promise<void> {
  if (units > 0) await ctx.transaction((tx) => moveUnits(tx, reservationId, units, 0))
}

/** Removes `units` from the reservation and adds `used` to the used units of its cycle. */
async function moveUnits(tx: Context, reservationId: string, units: number, used: number): Promise<void> {
  const now = tx.now()
  const reservation = await lockReservation(tx, reservationId)
  const freed = Math.min(units, reservation.units)
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
    .where('starts_at', '=', reservation.cycle_starts_at)
    .returning(['starts_at', 'used', 'message_limit'])
    .executeTakeFirstOrThrow()
  await notifyQuota(tx, cycle, cycle.used - used)
}

async function lockReservation(tx: Context, id: string) {
  return tx.db
    .selectFrom('usage_reservations')
    .select(['units', 'cycle_starts_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(() => new Error(`No reservation ${id}`))
}

const thresholds = [
  { percent: 80, level: 'warning', title: '80% of your messages are used' },
  { percent: 100, level: 'error', title: 'All your messages are used' },
] as const

/** Notifies the merchant when 80 and 100 percent of the messages are used, each once per cycle. */
async function notifyQuota(
  tx: Context,
  cycle: { starts_at: Date; used: number; message_limit: number },
  before: number,
): Promise<void> {
  for (const { percent, level, title } of thresholds) {
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

/** Applies delivery statuses. A status only moves forward. */
export const recordStatus: (ctx: Context, changes: StatusChange[]) => Promise<void> = applyStatuses

/** Reads limit, used and reserved units of the current cycle. */
export async function readUsage(
  ctx: Context,
): Promise<{ limit: number; used: number; reserved: number; remaining: number }> {
  const { limit, used, reserved } = await readCurrentCycle(ctx)
  return { limit, used, reserved, remaining: Math.max(0, limit - used - reserved) }
}
