/** Which touch an order came from, and the conversion that says so (rules 3 and 4). */
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { columnsOf, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
import { shareSums } from '../sums/day-sums.ts'
import type { ConversionChange, ConversionRow, SourceType } from './attribution.ts'
import { conversionTypes, figuresOf, itemsOf, lineTypes, type Source } from './conversion-of.ts'
import { followRows } from './conversion-sums.ts'
import type { Figures, Known, Lines, Written } from './figures.ts'
import { lastTouches } from './last-touch.ts'

/**
 * Attributes orders that no message has yet, and those whose message failed meanwhile, and brings the conversions of
 * all up to date. In the caller's transaction: the orders are locked until it ends.
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
  const known = await knownConversions(ctx, ids)
  const touches = await lastTouches(
    ctx,
    orders.filter((order) => known.get(order.id)?.isVoid !== false),
    [...known.values()].flatMap(({ row }) => row.touch_id ?? []),
  )
  const items = await itemsByOrder(ctx, ids)

  const written: Written[] = []
  const gone: ConversionRow[] = []
  for (const order of orders) {
    const before = known.get(order.id) ?? null
    const source: Source | undefined = before && !before.isVoid ? before.row : touches.get(order.id)
    if (!source) {
      if (before) gone.push(before.row)
      continue
    }
    const figures = figuresOf(order, source, before?.row.status ?? null)
    const lines = itemsOf(order, items.get(order.id) ?? [])
    if (before && isSame(before, figures, lines)) continue
    const now = ctx.now()
    const id = before?.row.id ?? ctx.newId()
    written.push({ row: { ...figures, id, created_at: now, updated_at: now }, lines })
  }

  if (written.length === 0 && gone.length === 0) return
  await shareSums(ctx)
  await remove(ctx, gone)
  const changes: ConversionChange[] = gone.map((before) => ({ before, after: null }))
  const rows = await write(ctx, written)
  await followRows(ctx, known, written, gone)
  for (const after of rows) {
    const before = known.get(after.order_id)?.row ?? null
    if (before && before.touch_id !== after.touch_id) {
      changes.push({ before, after: null }, { before: null, after })
    } else changes.push({ before, after })
  }
  await tell(ctx, changes)
}

async function knownConversions(ctx: Context, orderIds: string[]): Promise<Map<string, Known>> {
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

async function itemsByOrder(ctx: Context, orderIds: string[]): Promise<Map<string, Row<'order_items'>[]>> {
  const items = await ctx.db
    .selectFrom('order_items')
    .selectAll()
    .where(isAmong('order_id', orderIds))
    .orderBy('position')
    .execute()
  return Map.groupBy(items, (item) => item.order_id)
}

function isSame({ row, lines: before }: Known, figures: Figures, lines: Lines): boolean {
  return (
    figureColumns.every((column) => text(row[column]) === text(figures[column])) &&
    before.length === lines.length &&
    lines.every((line, i) => lineColumns.every((column) => text(line[column]) === text(before[i]![column])))
  )
}
const figureColumns = columnsOf(conversionTypes).filter(
  (column) => column !== 'id' && column !== 'created_at' && column !== 'updated_at',
)
const lineColumns = columnsOf(lineTypes).filter((column) => column !== 'conversion_id')

/** jsonb does not keep the order of keys. */
function text(value: unknown): string {
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

async function write(ctx: Context, written: readonly Written[]): Promise<ConversionRow[]> {
  if (written.length === 0) return []
  const columns = columnsOf(conversionTypes)
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
  const allLineColumns = columnsOf(lineTypes)
  await ctx.db
    .insertInto('conversion_items')
    .columns(allLineColumns)
    .expression((db) => db.selectFrom(recordset(lineTypes, lines)).select(allLineColumns))
    .execute()
  return rows
}

async function tell(ctx: Context, changes: readonly ConversionChange[]): Promise<void> {
  const bySource = Map.groupBy(changes, ({ before, after }) => (after ?? before)!.source_type as SourceType)
  for (const [sourceType, ofSource] of bySource) {
    for (const told of ctx.wired.conversionsChanged[sourceType] ?? []) await told(ctx, ofSource)
  }
}
