/** Attributes orders to touches (messages and popup subscriptions) and writes their conversions (rules 3 and 4). */
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { columnNames, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
import { lockSumsShared } from '../sums/daily-sums.ts'
import type { ConversionChange, ConversionRow, SourceType } from './attribution.ts'
import { buildConversion, buildLines, conversionTypes, lineTypes, type Source } from './conversion-columns.ts'
import type { ConversionColumns, ConversionDraft, Lines, StoredConversion } from './conversion-draft.ts'
import { updateSums } from './conversion-sums.ts'
import { findLastTouches } from './last-touch.ts'

/**
 * Attributes the orders that have no touch yet or whose message failed meanwhile. Updates the conversions of all the
 * orders. Runs in the caller's transaction and locks the orders until that transaction ends.
 */
export async function attributeOrders(ctx: Context, orderIds: readonly string[]): Promise<void> {
  const orders = await ctx.db
    .selectFrom('orders')
    .selectAll()
    .where(isAmong('id', orderIds))
    .orderBy('id')
    .forUpdate()
    .execute()
  if (orders.length === 0) return
  const ids = orders.map((order) => order.id)
  const known = await readConversions(ctx, ids)
  const touches = await findLastTouches(
    ctx,
    orders.filter((order) => known.get(order.id)?.isVoid !== false),
    [...known.values()].flatMap(({ row }) => row.touch_id ?? []),
  )
  const items = await readItemsByOrder(ctx, ids)

  const written: ConversionDraft[] = []
  const removed: ConversionRow[] = []
  for (const order of orders) {
    const before = known.get(order.id) ?? null
    const source: Source | undefined = before && !before.isVoid ? before.row : touches.get(order.id)
    if (!source) {
      if (before) removed.push(before.row)
      continue
    }
    const figures = buildConversion(order, source, before?.row.status ?? null)
    const lines = buildLines(order, items.get(order.id) ?? [])
    if (before && isUnchanged(before, figures, lines)) continue
    const now = ctx.now()
    const id = before?.row.id ?? ctx.newId()
    written.push({ row: { ...figures, id, created_at: now, updated_at: now }, lines })
  }

  if (written.length === 0 && removed.length === 0) return
  await lockSumsShared(ctx)
  await remove(ctx, removed)
  const changes: ConversionChange[] = removed.map((before) => ({ before, after: null }))
  const rows = await write(ctx, written)
  await updateSums(ctx, known, written, removed)
  for (const after of rows) {
    const before = known.get(after.order_id)?.row ?? null
    if (before && before.touch_id !== after.touch_id) {
      changes.push({ before, after: null }, { before: null, after })
    } else changes.push({ before, after })
  }
  await notifyChanges(ctx, changes)
}

async function readConversions(ctx: Context, orderIds: string[]): Promise<Map<string, StoredConversion>> {
  const rows = await ctx.db
    .selectFrom('conversions as c')
    .leftJoin('attribution_touches as t', 't.id', 'c.touch_id')
    .selectAll('c')
    .select(sql<boolean>`t.voided_at is not null`.as('is_void'))
    .where(isAmong('c.order_id', orderIds))
    .execute()
  if (rows.length === 0) return new Map()
  const conversionIds = rows.map((row) => row.id)
  const lines = await ctx.db
    .selectFrom('conversion_items')
    .selectAll()
    .where(isAmong('conversion_id', conversionIds, 'uuid'))
    .orderBy('position')
    .execute()
  const byConversion = Map.groupBy(lines, (line) => line.conversion_id)
  return new Map(
    rows.map(({ is_void: isVoid, ...row }) => [
      row.order_id,
      { row, isVoid, lines: byConversion.get(row.id) ?? [] },
    ]),
  )
}

async function readItemsByOrder(
  ctx: Context,
  orderIds: string[],
): Promise<Map<string, Row<'order_items'>[]>> {
  const items = await ctx.db
    .selectFrom('order_items')
    .selectAll()
    .where(isAmong('order_id', orderIds))
    .orderBy('position')
    .execute()
  return Map.groupBy(items, (item) => item.order_id)
}

function isUnchanged(
  { row, lines: before }: StoredConversion,
  figures: ConversionColumns,
  lines: Lines,
): boolean {
  return (
    figureColumns.every((column) => toComparable(row[column]) === toComparable(figures[column])) &&
    before.length === lines.length &&
    lines.every((line, i) =>
      lineColumns.every((column) => toComparable(line[column]) === toComparable(before[i]![column])),
    )
  )
}
const figureColumns = columnNames(conversionTypes).filter(
  (column) => column !== 'id' && column !== 'created_at' && column !== 'updated_at',
)
const lineColumns = columnNames(lineTypes).filter((column) => column !== 'conversion_id')

/** Turns a column value into comparable text. Sorts the keys of objects, because jsonb does not keep their order. */
function toComparable(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function remove(ctx: Context, conversions: readonly ConversionRow[]): Promise<void> {
  if (conversions.length === 0) return
  const ids = conversions.map((conversion) => conversion.id)
  await ctx.db
    .deleteFrom('conversions')
    .where(isAmong('id', ids, 'uuid'))
    .execute()
}

async function write(ctx: Context, written: readonly ConversionDraft[]): Promise<ConversionRow[]> {
  if (written.length === 0) return []
  const columns = columnNames(conversionTypes)
  const rows = await ctx.db
    .insertInto('conversions')
    .columns(columns)
    .expression((db) =>
      db
        .selectFrom(
          recordset(
            conversionTypes,
            written.map((each) => each.row),
          ),
        )
        .select(columns),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'order_id'])
        .doUpdateSet(excludedColumns(conversionTypes, ['id', 'order_id', 'created_at'])),
    )
    .returningAll()
    .execute()
  const ids = rows.map((row) => row.id)
  await ctx.db
    .deleteFrom('conversion_items')
    .where(isAmong('conversion_id', ids, 'uuid'))
    .execute()
  const lines = written.flatMap(({ row, lines: own }) =>
    own.map((line) => ({ ...line, conversion_id: row.id })),
  )
  const allLineColumns = columnNames(lineTypes)
  await ctx.db
    .insertInto('conversion_items')
    .columns(allLineColumns)
    .expression((db) => db.selectFrom(recordset(lineTypes, lines)).select(allLineColumns))
    .execute()
  return rows
}

async function notifyChanges(ctx: Context, changes: readonly ConversionChange[]): Promise<void> {
  const bySource = Map.groupBy(changes, ({ before, after }) => (after ?? before)!.source_type as SourceType)
  for (const [sourceType, ofSource] of bySource) {
    for (const hook of ctx.extensions.conversionsChanged[sourceType] ?? []) await hook(ctx, ofSource)
  }
}
