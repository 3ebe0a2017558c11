/** Reads and writes a source's rows by the common field names. */
import { type SelectQueryBuilder, sql, type UpdateQueryBuilder } from 'kysely'
import type { Context } from '#runtime/context'
import { isAmong, recordset } from '#runtime/database/recordset'
import {
  deadAfterMs,
  type FailureCode,
  type MessageState,
  type OutboxSource,
  type Transition,
} from './outbox-source.ts'

/** Loosely typed, because each source has its own table; `define-source.ts` checks the names in `columns`. */
type MessageQuery = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>
type MessageUpdate = UpdateQueryBuilder<Record<string, Record<string, unknown>>, string, string, object>

const outcomes = ['sent', 'delivered', 'read', 'failed'] as const

/** Values of fields that the table has no column for. */
const defaults: Omit<MessageState, 'id' | 'status'> = {
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

const listColumns = <Row extends MessageState>(
  source: OutboxSource<Row>,
): [field: string, name: string, type?: string][] =>
  Object.entries(source.columns as Record<string, readonly [string, string?] | null>).flatMap(
    ([field, column]) => (column ? [[field, ...column]] : []),
  )

/** Selects the source's rows, aliased `m`, each as a `Row`. */
export function selectMessages<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
): MessageQuery {
  const messages = ctx.db.selectFrom(`${source.table} as m` as 'campaign_messages as m')
  const joined = (source.join?.(messages as never) ?? messages) as MessageQuery
  return joined.select(listColumns(source).map(([field, name]) => sql.ref(`m.${name}`).as(field)))
}

const withDefaults = <Row extends MessageState>(row: object): Row => ({ ...defaults, ...row }) as Row

/**
 * Locks messages, and their parents before them: by default messages in flight or sent, otherwise messages in
 * `statuses`. With `claimId`, only messages of this claim.
 */
export async function lockMessages<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  ids: readonly string[],
  { statuses = inFlightOrSent(source), claimId }: LockFilter = {},
): Promise<Row[]> {
  await source.lockParents?.(tx, ids)
  let rows = selectMessages(tx, source)
    .where(isAmong('m.id', ids, 'uuid'))
    .where(`m.${getColumnName(source, 'status')}`, 'in', [...statuses])
  if (claimId !== undefined) rows = rows.where('m.claim_id', '=', claimId)
  const found = await rows.orderBy('m.id').forUpdate('m').execute()
  return found.map((row) => withDefaults<Row>(row))
}

interface LockFilter {
  statuses?: readonly string[]
  claimId?: string | undefined
}

const inFlightOrSent = <Row extends MessageState>({
  inFlightStatuses,
  statusNames,
}: OutboxSource<Row>): string[] => [
  ...inFlightStatuses,
  ...outcomes.map((each) => statusNames?.[each] ?? each),
]

/** Writes the changed columns in one statement. A message that is no longer in flight loses its claim. */
export async function writeTransitions<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  transitions: readonly Transition<Row>[],
): Promise<void> {
  const isMoved = (field: string): boolean =>
    field === 'status' ||
    transitions.some(({ before, after }) => before[field as keyof Row] !== after[field as keyof Row])
  const columns = listColumns(source).filter(
    ([field, , type]) => type !== undefined && field !== 'id' && isMoved(field),
  )
  const types: Record<string, string> = { id: 'uuid' }
  for (const [, name, type] of columns) types[name] = type!
  const rows = transitions.map(({ after }) => {
    const row: Record<string, unknown> = { id: after.id }
    for (const [field, name] of columns) {
      row[name] = field === 'code' ? toStoredCode(source, after.code) : after[field as keyof Row]
    }
    return row
  })
  const status = getColumnName(source, 'status')
  await updateMessages(tx, source)
    .from(recordset(types, rows) as never)
    .set({
      ...Object.fromEntries(columns.map(([, name]) => [name, sql.ref(`r.${name}`)])),
      ...Object.fromEntries(
        source.claimColumns.map((name) => [
          name,
          sql`case when ${sql.ref(`r.${status}`)} = any(${source.inFlightStatuses}::text[])
            then ${sql.ref(`${name in types ? 'r' : 'm'}.${name}`)} end`,
        ]),
      ),
      updated_at: tx.now(),
    } as never)
    .where(sql<boolean>`m.id = r.id`)
    // Forces the index: the planner's statistics may not know fresh rows.
    .where(
      isAmong(
        'm.id',
        transitions.map(({ after }) => after.id),
        'uuid',
      ),
    )
    .execute()
}

const toStoredCode = <Row extends MessageState>(
  source: OutboxSource<Row>,
  code: FailureCode | null,
): FailureCode | null => (code === null ? null : (source.toStoredCode?.(code) ?? code))

const updateMessages = <Row extends MessageState>(tx: Context, source: OutboxSource<Row>): MessageUpdate =>
  tx.db.updateTable(`${source.table} as m` as 'campaign_messages as m') as unknown as MessageUpdate

const getColumnName = <Row extends MessageState>(
  source: OutboxSource<Row>,
  field: keyof Row & string,
): string => (source.columns as Record<string, readonly [string, string?] | null>)[field]?.[0] ?? field

/**
 * Records a call before it is made, if the provider does not deduplicate by key or another worker may own the claim.
 * Marks only messages that were never called, or last called by a dead worker, and returns their ids.
 */
export async function markCalled<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  claimId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const marked = (await updateMessages(ctx, source)
    .set({ [getColumnName(source, 'calledAt')]: ctx.now() } as never)
    .where(isAmong('m.id', ids, 'uuid'))
    .where('m.claim_id', '=', claimId)
    .where(`m.${getColumnName(source, 'status')}`, 'in', [...source.inFlightStatuses])
    .where(
      sql<boolean>`(m.called_at is null or m.called_at <= ${new Date(ctx.clock.ms() - deadAfterMs)}::timestamptz)`,
    )
    .returning('m.id')
    .execute()) as { id: string }[]
  return new Set(marked.map(({ id }) => id))
}

/** Writes the time of the next try, the number of tries, and since when the provider may have the message. */
export async function writeTry<Row extends MessageState & { tries: number; nextTryAt: Date | null }>(
  ctx: Context,
  source: OutboxSource<Row>,
  { id, tries, calledAt, nextTryAt }: Row,
): Promise<void> {
  await updateMessages(ctx, source)
    .set({
      [getColumnName(source, 'status')]: source.inFlightStatuses[0],
      [getColumnName(source, 'tries')]: tries,
      [getColumnName(source, 'calledAt')]: calledAt,
      [getColumnName(source, 'nextTryAt')]: nextTryAt,
      updated_at: ctx.now(),
    } as never)
    .where('m.id', '=', id as never)
    .where(`m.${getColumnName(source, 'status')}`, 'in', [...source.inFlightStatuses] as never)
    .execute()
}

/** Messages of the store that are due, longest waiting first. */
export async function findDueMessages<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  atMost: number,
): Promise<string[]> {
  const at = `m.${getColumnName(source, 'nextTryAt' as never)}`
  const rows = await selectMessages(ctx, source)
    .where(`m.${getColumnName(source, 'status')}`, 'in', [...source.inFlightStatuses])
    .where(at, '<=', ctx.now())
    .orderBy(at)
    .orderBy('m.id')
    .limit(atMost)
    .execute()
  return rows.map((row) => (row as unknown as MessageState).id)
}

/**
 * Makes messages that wait for a number due, when a number can send again. Messages that may have been sent keep their
 * own schedule.
 */
export async function wakeWaitingMessages(ctx: Context): Promise<void> {
  for (const source of Object.values(ctx.extensions.senders)) {
    if (!source || !('maxWaitMs' in source) || source.maxWaitMs === 0) continue
    const each = source as unknown as OutboxSource
    const at = getColumnName(each, 'nextTryAt' as never)
    const woken = (await updateMessages(ctx, each)
      .set({ [at]: ctx.now() } as never)
      .where(`m.${getColumnName(each, 'status')}`, 'in', [...each.inFlightStatuses] as never)
      .where(`m.${getColumnName(each, 'calledAt')}`, 'is', null)
      .where(`m.${at}`, '>', ctx.now() as never)
      .returning('m.id')
      .execute()) as { id: string }[]
    for (const { id } of woken) await each.wake?.(ctx, id)
  }
}
