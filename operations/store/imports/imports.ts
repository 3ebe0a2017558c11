/**
 * Imports: page after page, each with its rows, its counts and its place in one transaction, so that a worker may die
 * anywhere (runtime, rule 19). What a page is and what a row means is the importing section's.
 */
import { setImmediate as others } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'

export type Cursor = string | number | null
type RowsTable = 'list_import_rows' | 'review_import_rows'

/** `next`: where the page after begins; null when this was the last. */
export interface ImportPage {
  next: Cursor
}

interface Outcome {
  level: 'success' | 'warning' | 'error'
  title: string
  message: string
  data?: Record<string, unknown>
}

/** `Row`: what is kept of an import in its table, beside what all have; `Held`: what its pages take turns at. */
export interface Importer<Row extends object, Page extends ImportPage, Count extends string, Held = unknown> {
  /** Of the job, of its notices (`…-completed`, `…-failed`) and of their keys. */
  name: string
  table: 'list_imports' | 'review_imports'
  /** Where rows of a file wait for their page. */
  rowsTable: RowsTable
  columns: readonly (keyof Row & string)[]
  counts: readonly Count[]
  /** What else is set when it begins, or goes on. */
  begins?(now: Date): object
  /** Outside a transaction. Of a port that refuses, and of what is refused, the import fails with that very sentence. */
  page(ctx: Context, run: Run<Row>, cursor: Cursor): Promise<Page>
  /** What is locked before the import; undefined where that is gone, and the import with it. */
  lock?(tx: Context, run: Run<Row>): Promise<Held | undefined>
  /** Writes a page, and answers what it adds to the counts; `set`: what else is written of the import. */
  write(
    tx: Context,
    run: Run<Row>,
    page: Page,
    held: Held,
  ): Promise<{ counts: Partial<Record<Count, number>>; set?: Record<string, RawBuilder<unknown>> }>
  /** After the last page, in its transaction. */
  completed(
    tx: Context,
    run: Run<Row>,
    counted: Record<Count, number>,
    page: Page,
    held: Held,
  ): Promise<Outcome>
  /** Its message is told behind the reason. */
  failed(tx: Context, run: Run<Row> & Record<Count, number>): Promise<Omit<Outcome, 'level'>>
}

export type Run<Row extends object> = Row & { id: string; cursor: Cursor }
// biome-ignore lint/suspicious/noExplicitAny: of whichever section
type Any = Importer<any, any, string, any>

const live = ['queued', 'running']
const ours = 'Something went wrong on our side'
const stagedAtOnce = 5000

/** Keeps rows of a file with their lines for the job, in the caller's transaction. */
export async function stage(
  tx: Context,
  table: RowsTable,
  importId: string,
  rows: readonly (readonly [line: number, cells: readonly unknown[]])[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += stagedAtOnce) {
    const json = JSON.stringify(rows.slice(from, from + stagedAtOnce))
    await tx.db
      .insertInto(table)
      .columns(['import_id', 'line', 'cells'])
      .expression((eb) =>
        eb
          .selectFrom(sql<{ row: unknown }>`jsonb_array_elements(${json}::jsonb)`.as<'r'>(sql`r(row)`))
          .select([
            sql<string>`${importId}::uuid`.as('import_id'),
            sql<number>`(r.row->>0)::int`.as('line'),
            sql<string>`r.row->1`.as('cells'),
          ]),
      )
      .execute()
  }
}

/** The rows that wait behind a line. */
export const stagedAfter = (ctx: Context, table: RowsTable, importId: string, line: Cursor, atMost: number) =>
  ctx.db
    .selectFrom(table)
    .select(['line', 'cells'])
    .where('import_id', '=', importId)
    .where('line', '>', Number(line ?? 0))
    .orderBy('line')
    .limit(atMost)
    .execute()

/**
 * Works through an import from where it stands. Ends without a word when it has ended, or is gone. Throws what is worth
 * another try.
 */
export async function run(ctx: Context, importer: Any, importId: string, signal: AbortSignal): Promise<void> {
  const begun = await begin(ctx, importer, importId)
  if (!begun) return
  try {
    for (let at: { cursor: Cursor } | null = begun; at; ) {
      signal.throwIfAborted()
      const { cursor }: { cursor: Cursor } = at
      const page = await importer.page(ctx, begun, cursor)
      at = await ctx.transaction((tx) => applyPage(tx, importer, begun, cursor, page))
      // The embedded database answers without leaving this turn of the event loop: requests would wait for the end.
      await others()
    }
  } catch (error) {
    // A platform that refuses, or is not connected any more, will not answer otherwise at the next try.
    if (!(error instanceof Refusal || error instanceof Refused)) throw error
    await fail(ctx, importer, importId, error.message)
  }
}

/** One that still waits for a member who was removed meanwhile is dropped. */
async function begin(ctx: Context, importer: Any, importId: string): Promise<Run<object> | null> {
  const asked = await ctx.db
    .selectFrom(`${importer.table} as i` as 'list_imports as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.user_id')
    .select('p.removed_at')
    .where('i.id', '=', importId)
    .where('i.status', '=', 'queued')
    .executeTakeFirst()
  if (asked?.removed_at) {
    await fail(ctx, importer, importId, 'The member who asked for it was removed')
    return null
  }
  const now = ctx.now()
  const row = await ctx.db
    .updateTable(importer.table)
    .set({ status: 'running', updated_at: now, ...importer.begins?.(now) })
    .where('id', '=', importId)
    .where('status', 'in', live)
    .returning(['id', 'cursor', ...importer.columns] as 'id'[])
    .executeTakeFirst()
  return (row as Run<object> | undefined) ?? null
}

/** Where to go on: behind the page, or wherever another worker stands that was faster. Null when it is over. */
async function applyPage(
  tx: Context,
  importer: Any,
  begun: Run<object>,
  cursor: Cursor,
  page: ImportPage,
): Promise<{ cursor: Cursor } | null> {
  const { table, counts } = importer
  const held = await importer.lock?.(tx, begun)
  if (importer.lock && !held) return null
  const row = await tx.db
    .selectFrom(table)
    .select(['cursor', 'status'])
    .where('id', '=', begun.id)
    .forUpdate()
    .executeTakeFirst()
  if (row?.status !== 'running') return null
  if (row.cursor !== cursor) return { cursor: row.cursor }
  const written = await importer.write(tx, begun, page, held)
  const now = tx.now()
  const isLast = page.next === null
  const counted = await tx.db
    .updateTable(table)
    .set({
      ...Object.fromEntries(
        counts.map((name) => [name, sql`${sql.ref(name)} + ${written.counts[name] ?? 0}::int`]),
      ),
      ...written.set,
      updated_at: now,
      ...(isLast ? { status: 'completed', finished_at: now } : { cursor: page.next as string }),
    })
    .where('id', '=', begun.id)
    .returning(counts as 'id'[])
    .executeTakeFirstOrThrow()
  if (!isLast) return { cursor: page.next }
  const outcome = await importer.completed(tx, begun, counted as never, page, held)
  await end(tx, importer, begun.id, 'completed', outcome)
  return null
}

/** Ends an import that still waits or runs; what was written stays. `reason`: a plain sentence. */
export async function fail(ctx: Context, importer: Any, importId: string, reason?: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const failed = await tx.db
      .updateTable(importer.table)
      .set({ status: 'failed', failure_reason: reason ?? ours, finished_at: now, updated_at: now })
      .where('id', '=', importId)
      .where('status', 'in', live)
      .returning(['id', 'cursor', ...importer.columns, ...importer.counts] as 'id'[])
      .executeTakeFirst()
    if (!failed) return
    const outcome = await importer.failed(tx, failed)
    const message = `${reason ?? ours}. ${outcome.message}`
    await end(tx, importer, importId, 'failed', { ...outcome, message, level: 'error' })
  })
}

async function end(
  tx: Context,
  importer: Any,
  importId: string,
  how: string,
  outcome: Outcome,
): Promise<void> {
  await tx.db.deleteFrom(importer.rowsTable).where('import_id', '=', importId).execute()
  await notify(tx, {
    ...outcome,
    type: `${importer.name}-${how}`,
    data: { jobId: importId, ...outcome.data },
    dedupeKey: `${importer.name}:${importId}`,
  })
}
