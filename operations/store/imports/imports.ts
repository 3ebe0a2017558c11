/**
 * Runs imports page by page. Rows, counts and cursor of a page are written in one transaction, so that a crash loses nothing
 * (rule 19 of the runtime). The section that imports defines the pages and rows.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { findConnectionFailure } from '#runtime/ports/instrumentation'

export type Cursor = string | number | null
type RowsTable = 'list_import_rows' | 'review_import_rows'

/** `next`: the cursor of the next page; null after the last page. */
export interface ImportPage {
  next: Cursor
}

interface Outcome {
  level: 'success' | 'warning' | 'error'
  title: string
  message: string
  data?: Record<string, unknown>
}

/** Defines one kind of import. `Row`: the additional columns of its table. `Held`: the parent of the import, as locked. */
export interface Importer<Row extends object, Page extends ImportPage, Count extends string, Held = unknown> {
  /** The name of the job; also the prefix of its notification types (`…-completed`, `…-failed`) and dedupe keys. */
  name: string
  table: 'list_imports' | 'review_imports'
  /** The staging table for rows of a file. */
  rowsTable: RowsTable
  columns: readonly (keyof Row & string)[]
  counts: readonly Count[]
  /** Further columns to set when a run starts or resumes. */
  columnsOnStart?(now: Date): object
  /** Fetches a page, outside a transaction. Throwing an `ApiError` or `Refused` fails the import with the error's message. */
  page(ctx: Context, run: Run<Row>, cursor: Cursor): Promise<Page>
  /** Locks the import's parent before the import is locked. Undefined if the parent, and so the import, was deleted. */
  lock?(tx: Context, run: Run<Row>): Promise<Held | undefined>
  /** Writes a page and returns its counts. `set`: further columns to set on the import. */
  write(
    tx: Context,
    run: Run<Row>,
    page: Page,
    held: Held,
  ): Promise<{ counts: Partial<Record<Count, number>>; set?: Record<string, RawBuilder<unknown>> }>
  /** Runs after the last page, in the transaction that writes it. Returns the notification of the completed import. */
  completed(
    tx: Context,
    run: Run<Row>,
    counted: Record<Count, number>,
    page: Page,
    held: Held,
  ): Promise<Outcome>
  /** Returns the notification of a failed import. Its message is appended to the reason of the failure. */
  failed(tx: Context, run: Run<Row> & Record<Count, number>): Promise<Omit<Outcome, 'level'>>
}

export type Run<Row extends object> = Row & { id: string; cursor: Cursor }
// biome-ignore lint/suspicious/noExplicitAny: an importer of any section
type Any = Importer<any, any, string, any>

const live = ['queued', 'running']
const internalErrorMessage = 'Something went wrong on our side'
const stagingBatchSize = 5000

/** Stores the rows of a file, with their line numbers, for the job to import. Runs in the caller's transaction. */
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

/** Lists staged rows after the line `line`. */
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
      // The embedded database never yields to the event loop, so without this other requests would have to wait.
      await yieldToEventLoop()
    }
  } catch (error) {
    // The job is retried by itself: until then the import says what it waits for.
    if (error instanceof Unavailable) {
      const failure = findConnectionFailure(error)
      const reason = failure ? `${failure.message}. ${failure.remedy}` : 'the provider does not answer'
      await setReason(ctx, importer, importId, `It waits: ${reason}`)
    }
    // Not worth a retry: the platform refused the request, or is no longer connected.
    if (!(error instanceof ApiError || error instanceof Refused)) throw error
    await fail(ctx, importer, importId, error.message)
  }
}

/** Claims the import; null if there is nothing to do. Fails a queued import whose member was removed. */
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
    .set({ status: 'running', failure_reason: null, updated_at: now, ...importer.columnsOnStart?.(now) })
    .where('id', '=', importId)
    .where('status', 'in', live)
    .returning(['id', 'cursor', ...importer.columns] as 'id'[])
    .executeTakeFirst()
  return (row as Run<object> | undefined) ?? null
}

/**
 * Writes a page and returns the next cursor. If another worker has written the page already, returns that worker's cursor.
 * Null if the import has ended.
 */
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

/** Says why a running import waits. The next attempt clears it. */
async function setReason(ctx: Context, { table }: Any, importId: string, reason: string): Promise<void> {
  await ctx.db
    .updateTable(table)
    .set({ failure_reason: reason, updated_at: ctx.now() })
    .where('id', '=', importId)
    .where('status', '=', 'running')
    .execute()
}

/** Fails a queued or running import. Rows written so far stay. `reason`: a sentence without the full stop. */
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
