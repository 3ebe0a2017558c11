/** Starting imports: a list at a time has one, which the job `list-import` works through. */

import { connections, imports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { oneRow, unlessTaken } from '#runtime/database/rows'
import { hourMs } from '#runtime/durations'
import { refuse, refuseForNow } from '#runtime/errors'
import { storableCell } from '#runtime/values/storable'
import { listImport } from '../handles.ts'
import type { CustomerFilters, NewsletterFilters } from '../lists/import-schema.ts'
import { createList, noSuchList, requireLocked } from '../lists/lists.ts'
import { layoutOf } from './csv-columns.ts'
import { isBlank } from './csv-rows.ts'
import type { Cell, CsvInput } from './csv-schema.ts'
import { type ImportOptions, subscriberRows } from './pages.ts'

export interface ImportQueued {
  jobId: string
  status: 'queued'
  listId: string
}

/** A live import without progress for so long has lost its worker at the last try. */
const deadAfterMs = 6 * hourMs

/** Queues an import into a list, in the caller's transaction. Refuses a second one while one waits or runs. */
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
  await unlessTaken('list_imports_live', busy(), () => queuing.execute())
  const queued = await ctx.queue(listImport, { importId: jobId, listId }, { id: jobId })
  // The job of an import that ended just now has not left the queue yet.
  if (queued.jobId !== jobId) throw busy()
  return { jobId, status: 'queued', listId }
}
const busy = () =>
  refuseForNow('conflict', 'An import of this list is queued or running: wait until it has ended')

/** Makes a list of the platform's customers who match. Refuses a taken name, and a store without a platform. */
export async function importPlatform(
  ctx: Context,
  input: { name: string; filters: CustomerFilters },
): Promise<ImportQueued> {
  await connections.requireEcommerce(ctx)
  const { name, filters } = input
  const listId = await createList(ctx, { name, source: 'ecomplatform', filters })
  return startImport(ctx, listId, { kind: 'ecomplatform', filters }, null)
}

/** Runs a list's filters again. Refuses a list that is not from the platform, and a second sync at once. */
export async function syncList(ctx: Context, listId: string): Promise<ImportQueued> {
  const saved = ctx.db.selectFrom('contact_lists').select(['source', 'filters']).forUpdate()
  const list = await oneRow(saved, listId, noSuchList)
  if (list.source !== 'ecomplatform') {
    throw refuse('conflict', 'This list was not built from the platform: there is nothing to sync it with')
  }
  await connections.requireEcommerce(ctx)
  const filters = (list.filters ?? {}) as CustomerFilters
  return startImport(ctx, listId, { kind: 'ecomplatform', filters }, null)
}

/** Makes a list of the popup's subscribers who gave their phone and consent. Refuses a taken name. */
export async function importNewsletter(
  ctx: Context,
  input: { name: string; filters: NewsletterFilters },
): Promise<ImportQueued> {
  const { name, filters } = input
  const listId = await createList(ctx, { name, source: 'newsletter', filters })
  const { total } = await subscriberRows(ctx, filters)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return startImport(ctx, listId, { kind: 'newsletter', filters }, total)
}

/** Makes a list of CSV rows. Refuses faults of the form (columns, mapping) and a taken name. */
export async function importCsv(
  ctx: Context,
  { name, ...csv }: CsvInput & { name: string },
): Promise<ImportQueued> {
  const layout = layoutOf(csv)
  return stageCsv(ctx, await createList(ctx, { name, source: 'csv' }), csv, layout)
}

/** Adds CSV rows to a list of any source. Refuses faults of the form, and a second import at once. */
export async function importCsvInto(ctx: Context, listId: string, csv: CsvInput): Promise<ImportQueued> {
  const layout = layoutOf(csv)
  await requireLocked(ctx, listId)
  return stageCsv(ctx, listId, csv, layout)
}

const lineEnds = (cells: readonly Cell[]): number =>
  cells.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? endsIn(cell) : 0), 0)
const endsIn = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0
const storable = (cell: Cell): Cell => (typeof cell === 'string' ? storableCell(cell) : cell)

/** Lines as an editor shows them: the header is line 1, a cell may have several. Blank rows are no rows. */
async function stageCsv(
  ctx: Context,
  listId: string,
  csv: CsvInput,
  layout: ReturnType<typeof layoutOf>,
): Promise<ImportQueued> {
  let line = 1 + lineEnds(csv.columns)
  const rows = csv.rows.flatMap((cells) => {
    line += 1
    const first = line
    line += lineEnds(cells)
    return isBlank(cells) ? [] : [[first, cells.map(storable)] as const]
  })
  const options = { kind: 'csv', layout, updates: csv.onDuplicate === 'update' } as const
  const started = await startImport(ctx, listId, options, rows.length)
  await imports.stage(ctx, 'list_import_rows', started.jobId, rows)
  return started
}
