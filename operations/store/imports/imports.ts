/**
 * Imports page by page: rows, counts and cursor of a page are written in one transaction, so that a crash loses nothing
 * (runtime, rule 19). The importing section defines pages and rows.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'

export type Cursor = string | number | null
type RowsTable = 'list_import_rows' | 'review_import_rows'

/** `next`: cursor of the next page; null after the last. */
export interface ImportPage {
  next: Cursor
}

interface Outcome {
  level: 'success' | 'warning' | 'error'
  title: string
  message: string
  data?: Record<string, unknown>
}

/** `Row`: the importer's own columns of its table; `Held`: the locked parent of the import. */
export interface Importer<Row extends object, Page extends ImportPage, Count extends string, Held = unknown> {
  /** The name of the job; prefix of its notifications (`…-completed`, `…-failed`) and their dedupe keys. */
  name: string
  table: 'list_imports' | 'review_imports'
  /** The staging table for rows of a file. */
  rowsTable: RowsTable
  columns: readonly (keyof Row & string)[]
  counts: readonly Count[]
  /** Further columns to set when a run starts or resumes. */
  columnsOnStart?(now: Date): object
  /** Runs outside a transaction. An `ApiError` or `Refused` fails the import with its message. */
  page(ctx: Context, run: Run<Row>, cursor: Cursor): Promise<Page>
  /** Locks the import's parent before the import; undefined if it was deleted, and the import with it. */
  lock?(tx: Context, run: Run<Row>): Promise<Held | undefined>
  /** Writes a page and returns its counts; `set`: further columns of the import. */
  write(
    tx: Context,
    run: Run<Row>,
    page: Page,
    held: Held,
  ): Promise<{ counts: Partial<Record<Count, number>>; set?: Record<string, RawBuilder<unknown>> }>
  /** Runs after the last page, in its transaction. */
  completed(
    tx: Context,
    run: Run<Row>,
    counted: Record<Count, number>,
    page: Page,
    held: Held,
  ): Promise<Outcome>
  /** Its message is appended to the reason. */
  failed(tx: Context, run: Run<Row> & Record<Count, number>): Promise<Omit<Outcome, 'level'>>
}

export type Run<Row extends object> = Row & { id: string; cursor: Cursor }
// biome-ignore lint/suspicious/noExplicitAny: an importer of any section
type Any = Importer<any, any, string, any>

const live = ['queued', 'running']
const internalErrorMessage = 'Something went wrong on our side'
const stagingBatchSize = 5000

/** Stages rows of a file with their line numbers for the job, in the caller's transaction. */
export async function stageRows(
  tx: Context,
  table: RowsTable,
  importId: string,
  rows: readonly (readonly [line: number, cells: readonly unknown[]])[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += stagingBatchSize) {
    const json = JSON.stringify(rows.slice(from, from + stagingBatchSize))
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

/** Staged rows after a line. */
export const listStagedRows = (
  ctx: Context,
  table: RowsTable,
  importId: string,
  line: Cursor,
  atMost: number,
) =>
  ctx.db
    .selectFrom(table)
    .select(['line', 'cells'])
    .where('import_id', '=', importId)
    .where('line', '>', Number(line ?? 0))
    .orderBy('line')
    .limit(atMost)
    .execute()

/**
 * Runs an import from its cursor. Does nothing if it has ended or was deleted. Throws retryable errors.
 */
export async function run(ctx: Context, importer: Any, importId: string, signal: AbortSignal): Promise<void> {
  const importRun = await claim(ctx, importer, importId)
  if (!importRun) return
  try {
    for (let at: { cursor: Cursor } | null = importRun; at; ) {
      signal.throwIfAborted()
      const { cursor }: { cursor: Cursor } = at
      const page = await importer.page(ctx, importRun, cursor)
      at = await ctx.transaction((tx) => applyPage(tx, importer, importRun, cursor, page))
      // Yields to the event loop: the embedded database answers without yielding, and requests would have to wait.
      await yieldToEventLoop()
    }
  } catch (error) {
    // Not retryable: the platform refused, or is no longer connected.
    if (!(error instanceof ApiError || error instanceof Refused)) throw error
    await fail(ctx, importer, importId, error.message)
  }
}

/** Claims the import; fails a queued one whose member was removed. */
async function claim(ctx: Context, importer: Any, importId: string): Promise<Run<object> | null> {
  const queued = await ctx.db
    .selectFrom(`${importer.table} as i` as 'list_imports as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.user_id')
    .select('p.removed_at')
    .where('i.id', '=', importId)
    .where('i.status', '=', 'queued')
    .executeTakeFirst()
  if (queued?.removed_at) {
    await fail(ctx, importer, importId, 'The member who asked for it was removed')
    return null
  }
  const now = ctx.now()
  const row = await ctx.db
    .updateTable(importer.table)
    .set({ status: 'running', updated_at: now, ...importer.columnsOnStart?.(now) })
    .where('id', '=', importId)
    .where('status', 'in', live)
    .returning(['id', 'cursor', ...importer.columns] as 'id'[])
    .executeTakeFirst()
  return (row as Run<object> | undefined) ?? null
}

/** Returns the next cursor: after this page, or of another worker that was faster. Null if the import is over. */
async function applyPage(
  tx: Context,
  importer: Any,
  importRun: Run<object>,
  cursor: Cursor,
  page: ImportPage,
): Promise<{ cursor: Cursor } | null> {
  const { table, counts } = importer
  const lockedParent = await importer.lock?.(tx, importRun)
  if (importer.lock && !lockedParent) return null
  const row = await tx.db
    .selectFrom(table)
    .select(['cursor', 'status'])
    .where('id', '=', importRun.id)
    .forUpdate()
    .executeTakeFirst()
  if (row?.status !== 'running') return null
  if (row.cursor !== cursor) return { cursor: row.cursor }
  const written = await importer.write(tx, importRun, page, lockedParent)
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
    .where('id', '=', importRun.id)
    .returning(counts as 'id'[])
    .executeTakeFirstOrThrow()
  if (!isLast) return { cursor: page.next }
  const outcome = await importer.completed(tx, importRun, counted as never, page, lockedParent)
  await finish(tx, importer, importRun.id, 'completed', outcome)
  return null
}

/** Fails a queued or running import; written rows stay. `reason`: a plain sentence. */
export async function fail(ctx: Context, importer: Any, importId: string, reason?: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const failed = await tx.db
      .updateTable(importer.table)
      .set({
        status: 'failed',
        failure_reason: reason ?? internalErrorMessage,
        finished_at: now,
        updated_at: now,
      })
      .where('id', '=', importId)
      .where('status', 'in', live)
      .returning(['id', 'cursor', ...importer.columns, ...importer.counts] as 'id'[])
      .executeTakeFirst()
    if (!failed) return
    const outcome = await importer.failed(tx, failed)
    const message = `${reason ?? internalErrorMessage}. ${outcome.message}`
    await finish(tx, importer, importId, 'failed', { ...outcome, message, level: 'error' })
  })
}

async function finish(
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
