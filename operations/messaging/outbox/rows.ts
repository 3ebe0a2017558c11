/** The rows of a lane, read and written in the engine's words. */
import { type SelectQueryBuilder, sql, type UpdateQueryBuilder } from 'kysely'
import type { Context } from '#runtime/context'
import { isAmong, recordset } from '#runtime/database/recordset'
import { type Code, deadAfterMs, type Lane, type Move, type Standing } from './lane.ts'

/** Any lane's table, as the compiler may know it: the names in `columns` are checked where the lane is declared. */
type Rows = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>
type Changed = UpdateQueryBuilder<Record<string, Record<string, unknown>>, string, string, object>

const outcomes = ['sent', 'delivered', 'read', 'failed'] as const

/** What a message is read with that has no column for it. */
const nothing: Omit<Standing, 'id' | 'status'> = {
  attempt: 1,
  phone: null,
  email: null,
  code: null,
  reason: null,
  providerMessageId: null,
  reservationId: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  calledAt: null,
}

const columnsOf = <Row extends Standing>(lane: Lane<Row>): [field: string, name: string, type?: string][] =>
  Object.entries(lane.columns as Record<string, readonly [string, string?] | null>).flatMap(
    ([field, column]) => (column ? [[field, ...column]] : []),
  )

/** The lane's rows, named `m`, each as a `Row`. */
export function rowsOf<Row extends Standing>(ctx: Context, lane: Lane<Row>): Rows {
  const messages = ctx.db.selectFrom(`${lane.table} as m` as 'campaign_messages as m')
  const joined = (lane.joined?.(messages as never) ?? messages) as Rows
  return joined.select(columnsOf(lane).map(([field, name]) => sql.ref(`m.${name}`).as(field)))
}

const completed = <Row extends Standing>(row: object): Row => ({ ...nothing, ...row }) as Row

/**
 * Locks messages, what is always locked before them first: those that are on their way or have left, or those in
 * `statuses`. `claimId`: those of this claim alone.
 */
export async function lock<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  ids: readonly string[],
  { statuses = leavingOrLeft(lane), claimId }: Locked = {},
): Promise<Row[]> {
  await lane.hold?.(tx, ids)
  let rows = rowsOf(tx, lane)
    .where(isAmong('m.id', ids, 'uuid'))
    .where(`m.${nameOf(lane, 'status')}`, 'in', [...statuses])
  if (claimId !== undefined) rows = rows.where('m.claim_id', '=', claimId)
  const found = await rows.orderBy('m.id').forUpdate('m').execute()
  return found.map((row) => completed<Row>(row))
}

interface Locked {
  statuses?: readonly string[]
  claimId?: string | undefined
}

const leavingOrLeft = <Row extends Standing>({ leaving, shown }: Lane<Row>): string[] => [
  ...leaving,
  ...outcomes.map((each) => shown?.[each] ?? each),
]

/** Writes what of them moved, in one statement; who is no longer on the way has no claim. */
export async function write<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  moves: readonly Move<Row>[],
): Promise<void> {
  const isMoved = (field: string): boolean =>
    field === 'status' ||
    moves.some(({ before, after }) => before[field as keyof Row] !== after[field as keyof Row])
  const columns = columnsOf(lane).filter(
    ([field, , type]) => type !== undefined && field !== 'id' && isMoved(field),
  )
  const types: Record<string, string> = { id: 'uuid' }
  for (const [, name, type] of columns) types[name] = type!
  const rows = moves.map(({ after }) => {
    const row: Record<string, unknown> = { id: after.id }
    for (const [field, name] of columns) {
      row[name] = field === 'code' ? codeIn(lane, after.code) : after[field as keyof Row]
    }
    return row
  })
  const status = nameOf(lane, 'status')
  await changing(tx, lane)
    .from(recordset(types, rows) as never)
    .set({
      ...Object.fromEntries(columns.map(([, name]) => [name, sql.ref(`r.${name}`)])),
      ...Object.fromEntries(
        lane.claim.map((name) => [
          name,
          sql`case when ${sql.ref(`r.${status}`)} = any(${lane.leaving}::text[])
            then ${sql.ref(`${name in types ? 'r' : 'm'}.${name}`)} end`,
        ]),
      ),
      updated_at: tx.now(),
    } as never)
    .where(sql<boolean>`m.id = r.id`)
    // By the index, whatever the planner's statistics know of fresh rows.
    .where(
      isAmong(
        'm.id',
        moves.map(({ after }) => after.id),
        'uuid',
      ),
    )
    .execute()
}

const codeIn = <Row extends Standing>(lane: Lane<Row>, code: Code | null): Code | null =>
  code === null ? null : (lane.codeOf?.(code) ?? code)

const changing = <Row extends Standing>(tx: Context, lane: Lane<Row>): Changed =>
  tx.db.updateTable(`${lane.table} as m` as 'campaign_messages as m') as unknown as Changed

const nameOf = <Row extends Standing>(lane: Lane<Row>, field: keyof Row & string): string =>
  (lane.columns as Record<string, readonly [string, string?] | null>)[field]?.[0] ?? field

/**
 * Written before a call, where the provider does not know a key again or a claim may be another's: who was never called,
 * or by somebody who is dead. Answers the ids that are ours to call.
 */
export async function markCalled<Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  claimId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const marked = (await changing(ctx, lane)
    .set({ [nameOf(lane, 'calledAt')]: ctx.now() } as never)
    .where(isAmong('m.id', ids, 'uuid'))
    .where('m.claim_id', '=', claimId)
    .where(`m.${nameOf(lane, 'status')}`, 'in', [...lane.leaving])
    .where(
      sql<boolean>`(m.called_at is null or m.called_at <= ${new Date(ctx.clock.ms() - deadAfterMs)}::timestamptz)`,
    )
    .returning('m.id')
    .execute()) as { id: string }[]
  return new Set(marked.map(({ id }) => id))
}

/** Who has it in hand: when it is looked at next, how often it was tried, and since when it may be with the provider. */
export async function writeTry<Row extends Standing & { tries: number; nextTryAt: Date | null }>(
  ctx: Context,
  lane: Lane<Row>,
  { id, tries, calledAt, nextTryAt }: Row,
): Promise<void> {
  await changing(ctx, lane)
    .set({
      [nameOf(lane, 'status')]: lane.leaving[0],
      [nameOf(lane, 'tries')]: tries,
      [nameOf(lane, 'calledAt')]: calledAt,
      [nameOf(lane, 'nextTryAt')]: nextTryAt,
      updated_at: ctx.now(),
    } as never)
    .where('m.id', '=', id as never)
    .where(`m.${nameOf(lane, 'status')}`, 'in', [...lane.leaving] as never)
    .execute()
}

/** Messages of the store that may be handed over now, those that wait longest first. */
export async function dueMessages<Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  atMost: number,
): Promise<string[]> {
  const at = `m.${nameOf(lane, 'nextTryAt' as never)}`
  const rows = await rowsOf(ctx, lane)
    .where(`m.${nameOf(lane, 'status')}`, 'in', [...lane.leaving])
    .where(at, '<=', ctx.now())
    .orderBy(at)
    .orderBy('m.id')
    .limit(atMost)
    .execute()
  return rows.map((row) => (row as unknown as Standing).id)
}

/** What waits for a number is looked at again at once: it can send. What may have left is asked about in its own time. */
export async function wakeLanes(ctx: Context): Promise<void> {
  for (const lane of Object.values(ctx.wired.senders)) {
    if (!lane || !('waitsMs' in lane) || lane.waitsMs === 0) continue
    const waiting = lane as unknown as Lane
    const at = nameOf(waiting, 'nextTryAt' as never)
    const woken = (await changing(ctx, waiting)
      .set({ [at]: ctx.now() } as never)
      .where(`m.${nameOf(waiting, 'status')}`, 'in', [...waiting.leaving] as never)
      .where(`m.${nameOf(waiting, 'calledAt')}`, 'is', null)
      .where(`m.${at}`, '>', ctx.now() as never)
      .returning('m.id')
      .execute()) as { id: string }[]
    for (const { id } of woken) await waiting.woken?.(ctx, id)
  }
}
