/** Starts imports, which the job `list-import` then runs. A list has at most one import at a time. */

import { connections, imports, readCell } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuseDuplicate, requireRow } from '#runtime/database/rows'
import { hourMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { sanitizeCell } from '#runtime/values/sanitize'
import { listImport } from '../handles.ts'
import type { CustomerFilters, NewsletterFilters } from '../lists/import-schema.ts'
import { createList, lockExistingList, noSuchList } from '../lists/lists.ts'
import { resolveLayout } from './csv-columns.ts'
import { isBlank } from './csv-rows.ts'
import type { Cell, CsvInput } from './csv-schema.ts'
import { type ImportOptions, selectSubscribers } from './pages.ts'

export interface ImportQueued {
  jobId: string
  status: 'queued'
  listId: string
}

/** If an unfinished import has had no progress for six hours, its worker died in the last retry. */
const deadAfterMs = 6 * hourMs

/**
 * Queues an import into a list, in the caller's transaction. Refuses if another import of the list is queued or
 * running.
 */
async function startImport(
  ctx: Context,
  listId: string,
  options: ImportOptions,
  total: number | null,
): Promise<ImportQueued> {
  const jobId = ctx.newId()
  const now = ctx.now()
  await ctx.db
    .updateTable('list_imports')
    .set({ status: 'failed', failure_reason: 'It was interrupted', finished_at: now, updated_at: now })
    .where('list_id', '=', listId)
    .where('status', 'in', ['queued', 'running'])
    .where('updated_at', '<', new Date(now.getTime() - deadAfterMs))
    .execute()
  const queuing = ctx.db.insertInto('list_imports').values({
    id: jobId,
    list_id: listId,
    kind: options.kind,
    status: 'queued',
    options: JSON.stringify(options),
    total,
    user_id: ctx.actor.userId,
    created_at: now,
    updated_at: now,
  })
  await refuseDuplicate('list_imports_live', importBusy(), () => queuing.execute())
  const queued = await ctx.queue(listImport, { importId: jobId, listId }, { id: jobId })
  // Another `jobId` means that the job of the list's previous import, which has just ended, is still in the queue.
  if (queued.jobId !== jobId) throw importBusy()
  return { jobId, status: 'queued', listId }
}
const importBusy = () =>
  refuseTemporarily('conflict', 'An import of this list is queued or running: wait until it has ended')

/**
 * Creates a list of the platform's customers who match the filters. Refuses a taken name, and a store without a
 * connected platform.
 */
export async function importPlatform(
  ctx: Context,
  input: { name: string; filters: CustomerFilters },
): Promise<ImportQueued> {
  await connections.requireEcommerce(ctx)
  const { name, filters } = input
  const listId = await createList(ctx, { name, source: 'ecomplatform', filters })
  return startImport(ctx, listId, { kind: 'ecomplatform', filters }, null)
}

/**
 * Imports the customers who match a list's saved filters again. Refuses a list that is not from the platform, and a
 * concurrent import.
 */
export async function syncList(ctx: Context, listId: string): Promise<ImportQueued> {
  const saved = ctx.db.selectFrom('contact_lists').select(['source', 'filters']).forUpdate()
  const list = await requireRow(saved, listId, noSuchList)
  if (list.source !== 'ecomplatform') {
    throw refuse('conflict', 'This list was not built from the platform: there is nothing to sync it with')
  }
  await connections.requireEcommerce(ctx)
  const filters = (list.filters ?? {}) as CustomerFilters
  return startImport(ctx, listId, { kind: 'ecomplatform', filters }, null)
}

/** Creates a list of the popup's subscribers who gave their phone and consent. Refuses a taken name. */
export async function importNewsletter(
  ctx: Context,
  input: { name: string; filters: NewsletterFilters },
): Promise<ImportQueued> {
  const { name, filters } = input
  const listId = await createList(ctx, { name, source: 'newsletter', filters })
  const { total } = await selectSubscribers(ctx, filters)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return startImport(ctx, listId, { kind: 'newsletter', filters }, total)
}

/** Creates a list from CSV rows. Refuses invalid columns, an invalid mapping and a taken name. */
export async function importCsv(
  ctx: Context,
  { name, ...csv }: CsvInput & { name: string },
): Promise<ImportQueued> {
  const layout = resolveLayout(csv)
  return stageCsv(ctx, await createList(ctx, { name, source: 'csv' }), csv, layout)
}

/** Adds CSV rows to a list of any source. Refuses invalid columns, an invalid mapping and a concurrent import. */
export async function importCsvInto(ctx: Context, listId: string, csv: CsvInput): Promise<ImportQueued> {
  const { custom_field_names: known } = await lockExistingList(ctx, listId)
  return stageCsv(ctx, listId, csv, resolveLayout(csv, known))
}

const countLineEnds = (cells: readonly Cell[]): number =>
  cells.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? countLineEndsIn(cell) : 0), 0)
const countLineEndsIn = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0
const cleanCell = (cell: Cell): Cell =>
  typeof cell === 'string' ? sanitizeCell(readCell(cell.trim())) : cell

/**
 * Stores the rows of a CSV with their line numbers, and starts the import. Counts lines as an editor shows them: the
 * header is line 1, and a cell may span several lines. Skips blank rows.
 */
async function stageCsv(
  ctx: Context,
  listId: string,
  csv: CsvInput,
  layout: ReturnType<typeof resolveLayout>,
): Promise<ImportQueued> {
  let line = 1 + countLineEnds(csv.columns)
  const rows = csv.rows.flatMap((cells) => {
    line += 1
    const first = line
    line += countLineEnds(cells)
    return isBlank(cells) ? [] : [[first, cells.map(cleanCell)] as const]
  })
  const options = { kind: 'csv', layout, updates: csv.onDuplicate === 'update' } as const
  const started = await startImport(ctx, listId, options, rows.length)
  await imports.stageRows(ctx, 'list_import_rows', started.jobId, rows)
  return started
}
