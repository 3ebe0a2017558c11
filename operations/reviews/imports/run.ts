/** Runs the job `review-import` in pages of 200 rows, and notifies the merchant at the end. */
import { imports, isAmong, recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { truncate } from '#runtime/values/truncate'
import { type Columns, parseHeader } from './columns.ts'
import { insertImported, type PlacedReview } from './imported-reviews.ts'
import { type Report, writeReport } from './report.ts'
import { buildImportKey, type ImportedReview, type ParseContext, parseRow, type RowIssue } from './rows.ts'

const rowsAtOnce = 200
const errorsShown = 50

interface ReviewImport {
  /** The header of the file. */
  columns: string[]
  /** The status of reviews that have none in the file. */
  default_status: string
}

interface Page extends imports.ImportPage {
  placed: PlacedReview[]
  /** Rows with the id of a review that the store has. */
  known: number
  faults: RowIssue[]
  /** A link to the report of refused rows; null except on the last page. */
  report: Report | null
}

export const reviewImports: imports.Importer<ReviewImport, Page, 'imported' | 'duplicates' | 'failed'> = {
  name: 'review-import',
  table: 'review_imports',
  rowsTable: 'review_import_rows',
  columns: ['columns', 'default_status'],
  counts: ['imported', 'duplicates', 'failed'],
  page: readPage,
  async write(tx, { id, default_status: status }, { placed, known, faults, next }) {
    const imported = await insertImported(tx, placed, status)
    if (next !== null) await recordResults(tx, id, Number(next), faults)
    return { counts: { imported, duplicates: known + placed.length - imported, failed: faults.length } }
  },
  async completed(tx, { id }, counted, { report }) {
    const errors = await tx.db
      .selectFrom('review_import_rows')
      .select(['line', 'fault_column as column', 'fault as message'])
      .where('import_id', '=', id)
      .orderBy('line')
      .limit(errorsShown)
      .execute()
    const { imported, duplicates, failed } = counted
    return {
      level: failed > 0 ? 'warning' : 'success',
      title: 'The import of reviews is complete',
      message: `${imported} were imported, ${duplicates} were there already, ${failed} could not be read.`,
      data: { ...counted, errors, rejectedRowsUrl: report?.url ?? null, file: report },
    }
  },
  failed: async (_tx, { imported }) => ({
    title: 'The import of reviews failed',
    message: `${imported} were imported before and stay; import the file again for the others.`,
  }),
}

export const runImport = (ctx: Context, importId: string, signal: AbortSignal): Promise<void> =>
  imports.run(ctx, reviewImports, importId, signal)
export const failImport = (ctx: Context, importId: string): Promise<void> =>
  imports.fail(ctx, reviewImports, importId)

/** Reads a page of staged rows. The last page has no rows; it writes the report of all refused rows instead. */
async function readPage(
  ctx: Context,
  { id, columns: header }: imports.Run<ReviewImport>,
  cursor: imports.Cursor,
): Promise<Page> {
  const rows = await imports.listStagedRows(ctx, 'review_import_rows', id, cursor, rowsAtOnce)
  const last = rows.at(-1)
  if (!last) {
    return {
      placed: [],
      known: 0,
      faults: [],
      report: await writeReport(ctx, id, header),
      next: null,
    }
  }
  const context: ParseContext = {
    columns: parseHeader(header),
    timezone: ctx.store.timezone,
    now: ctx.now(),
    isUploadedHere: (url) => ctx.adapters.storage.owns(url),
  }
  const found = await findKnown(ctx, context.columns, rows)
  const others = rows.filter((row) => !found.has(row))
  const read = others.map(({ line, cells }) => parseRow(line, cells as string[], context))
  return { ...(await matchProducts(ctx, read)), known: found.size, report: null, next: last.line }
}

/** Finds the rows of our own export whose reviews the store still has: they stay as they are. */
async function findKnown<Row extends { cells: unknown }>(
  ctx: Context,
  { id }: Columns,
  rows: readonly Row[],
): Promise<Set<Row>> {
  const ids = new Map(
    rows.flatMap((row) => {
      const value = id === null ? '' : ((row.cells as string[])[id] ?? '').trim()
      return isId(value) ? [[row, value.toLowerCase()] as const] : []
    }),
  )
  if (ids.size === 0) return new Set()
  const known = await ctx.db
    .selectFrom('product_reviews')
    .select('id')
    .where(isAmong('id', [...ids.values()], 'uuid'))
    .execute()
  const stored = new Set(known.map((row) => row.id))
  return new Set([...ids].flatMap(([row, value]) => (stored.has(value) ? row : [])))
}

/** Matches the reviews to products in the catalog cache. A row whose product is not found becomes an issue. */
async function matchProducts(
  ctx: Context,
  read: readonly (ImportedReview | RowIssue)[],
): Promise<{ placed: PlacedReview[]; faults: RowIssue[] }> {
  const reviews = read.filter((each): each is ImportedReview => 'products' in each)
  const valuesOf = (wanted: string): string[] => [
    ...new Set(
      reviews.flatMap(({ products }) =>
        products.flatMap(({ column, value }) => (column === wanted ? value : [])),
      ),
    ),
  ]
  const products = ctx.db
    .selectFrom('product_snapshots as p')
    .select(['p.product_id', 'p.name', 'p.image_url'])
    .where('p.exists', '=', true)
  const [byId, byHandle, bySku] = [
    await products.where(isAmong('p.product_id', valuesOf('product_id'))).execute(),
    await products
      .select('p.handle')
      .where(isAmong('p.handle', valuesOf('product_handle')))
      .execute(),
    await products
      .innerJoin('product_snapshot_variants as v', 'v.product_id', 'p.product_id')
      .select(['v.sku', 'v.variant_id', 'v.name as variant_name'])
      .where(isAmong('v.sku', valuesOf('sku')))
      .orderBy('p.product_id')
      .orderBy('v.position')
      .execute(),
  ]
  const found = new Map<string, Omit<PlacedReview, 'review' | 'key'>>()
  const note = (column: string, value: string, row: (typeof byId)[number], variant: Variant = {}): void => {
    const key = `${column}\n${value}`
    if (found.has(key)) return
    found.set(key, {
      productId: row.product_id,
      productName: row.name,
      imageUrl: row.image_url,
      variantId: variant.variant_id ?? null,
      variantName: variant.variant_name ?? null,
    })
  }
  for (const row of byId) note('product_id', row.product_id, row)
  for (const row of byHandle) note('product_handle', row.handle, row)
  for (const row of bySku) note('sku', row.sku!, row, row)
  const faults = read.filter((each): each is RowIssue => !('products' in each))
  const placed: PlacedReview[] = []
  for (const review of reviews) {
    const product = review.products.map(({ column, value }) => found.get(`${column}\n${value}`)).find(Boolean)
    if (product) placed.push({ ...product, review, key: buildImportKey(product.productId, review) })
    else {
      const names = review.products.map(({ value }) => truncate(value, 100)).join(', ')
      faults.push({
        line: review.line,
        column: review.products[0]!.column,
        message: `there is no product ${names}`,
      })
    }
  }
  return { placed, faults }
}

interface Variant {
  variant_id?: string
  variant_name?: string
}

const issueTypes = { line: 'int', fault_column: 'text', fault: 'text' } as const

/** Saves the issues of the refused rows, which are kept for the report, and deletes the other rows up to line `upTo`. */
async function recordResults(
  tx: Context,
  importId: string,
  upTo: number,
  faults: readonly RowIssue[],
): Promise<void> {
  if (faults.length > 0) {
    await tx.db
      .updateTable('review_import_rows')
      .from(
        recordset(
          issueTypes,
          faults.map(({ line, column, message }) => ({ line, fault_column: column, fault: message })),
        ),
      )
      .set((eb) => ({ fault_column: eb.ref('r.fault_column'), fault: eb.ref('r.fault') }))
      .whereRef('review_import_rows.line', '=', 'r.line')
      .where('review_import_rows.import_id', '=', importId)
      .execute()
  }
  await tx.db
    .deleteFrom('review_import_rows')
    .where('import_id', '=', importId)
    .where('line', '<=', upTo)
    .where('fault', 'is', null)
    .execute()
}
