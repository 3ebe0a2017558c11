/** What `review-import` does: 200 rows at a time, each time with their counts and the line in one transaction. */
import { setImmediate as others } from 'node:timers/promises'
import { isAmong, notify, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { columnsOf } from './columns.ts'
import { reportOf } from './report.ts'
import { type Fault, type ImportedReview, importKey, reviewOfRow, type Surroundings } from './rows.ts'
import { insertImported, type PlacedReview } from './writes.ts'

const rowsAtOnce = 200

interface Run {
  id: string
  header: string[]
  status: string
}

/** Goes on where it stands; ends without a word when it has ended, or another worker has taken it over. */
export async function runImport(ctx: Context, importId: string, signal: AbortSignal): Promise<void> {
  const row = await ctx.db
    .updateTable('review_imports')
    .set({ status: 'running', updated_at: ctx.now() })
    .where('id', '=', importId)
    .where('status', 'in', ['queued', 'running'])
    .returning(['columns', 'default_status', 'cursor'])
    .executeTakeFirst()
  if (!row) return
  const run = { id: importId, header: row.columns as string[], status: row.default_status }
  for (let cursor: number | null = row.cursor; cursor !== null; ) {
    signal.throwIfAborted()
    cursor = await importPage(ctx, run, cursor)
    // The embedded database answers without leaving this turn of the event loop: requests would wait for the end.
    await others()
  }
  await finish(ctx, run)
}

/** Answers the line it has come to, null at the end; where another was faster, the line that one has come to. */
async function importPage(ctx: Context, run: Run, cursor: number): Promise<number | null> {
  const page = await ctx.db
    .selectFrom('review_import_rows')
    .select(['line', 'cells'])
    .where('import_id', '=', run.id)
    .where('line', '>', cursor)
    .orderBy('line')
    .limit(rowsAtOnce)
    .execute()
  const last = page.at(-1)
  if (!last) return null
  const around: Surroundings = {
    columns: columnsOf(run.header),
    timezone: ctx.store.timezone,
    now: ctx.now(),
    owns: (url) => ctx.adapters.storage.owns(url),
  }
  const read = page.map(({ line, cells }) => reviewOfRow(line, cells as string[], around))
  const { placed, faults } = await place(ctx, read)
  return ctx.transaction(async (tx) => {
    const state = await tx.db
      .selectFrom('review_imports')
      .select(['cursor', 'status'])
      .where('id', '=', run.id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (state.status !== 'running') return null
    if (state.cursor !== cursor) return state.cursor
    const imported = await insertImported(tx, placed, run.status)
    await settleRows(tx, run.id, last.line, faults)
    await tx.db
      .updateTable('review_imports')
      .set((eb) => ({
        cursor: last.line,
        imported: eb('imported', '+', imported),
        duplicates: eb('duplicates', '+', placed.length - imported),
        failed: eb('failed', '+', faults.length),
        updated_at: tx.now(),
      }))
      .where('id', '=', run.id)
      .execute()
    return last.line
  })
}

/** The products that the rows name, as the mirror has them; a row without one is a fault. */
async function place(
  ctx: Context,
  read: readonly (ImportedReview | Fault)[],
): Promise<{ placed: PlacedReview[]; faults: Fault[] }> {
  const reviews = read.filter((each): each is ImportedReview => 'product' in each)
  const valuesOf = (column: string): string[] => [
    ...new Set(reviews.flatMap(({ product }) => (product.column === column ? product.value : []))),
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
  const faults = read.filter((each): each is Fault => !('product' in each))
  const placed: PlacedReview[] = []
  for (const review of reviews) {
    const { column, value } = review.product
    const product = found.get(`${column}\n${value}`)
    if (product) placed.push({ ...product, review, key: importKey(product.productId, review) })
    else faults.push({ line: review.line, column, message: `there is no product ${value.slice(0, 100)}` })
  }
  return { placed, faults }
}

interface Variant {
  variant_id?: string
  variant_name?: string
}

const faultTypes = { line: 'int', fault_column: 'text', fault: 'text' } as const

/** Those that were refused stay for the report, the others go. */
async function settleRows(
  tx: Context,
  importId: string,
  upTo: number,
  faults: readonly Fault[],
): Promise<void> {
  if (faults.length > 0) {
    await tx.db
      .updateTable('review_import_rows')
      .from(
        recordset(
          faultTypes,
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

const errorsShown = 50

async function finish(ctx: Context, run: Run): Promise<void> {
  const rejectedRowsUrl = await reportOf(ctx, run.id, run.header)
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const done = await tx.db
      .updateTable('review_imports')
      .set({ status: 'completed', finished_at: now, updated_at: now })
      .where('id', '=', run.id)
      .where('status', '=', 'running')
      .returning(['imported', 'duplicates', 'failed'])
      .executeTakeFirst()
    if (!done) return
    const errors = await tx.db
      .selectFrom('review_import_rows')
      .select(['line', 'fault_column as column', 'fault as message'])
      .where('import_id', '=', run.id)
      .orderBy('line')
      .limit(errorsShown)
      .execute()
    await tx.db.deleteFrom('review_import_rows').where('import_id', '=', run.id).execute()
    const { imported, duplicates, failed } = done
    await notify(tx, {
      type: 'review-import-completed',
      level: failed > 0 ? 'warning' : 'success',
      title: 'The import of reviews is complete',
      message: `${imported} were imported, ${duplicates} were there already, ${failed} could not be read.`,
      data: { jobId: run.id, imported, duplicates, failed, errors, rejectedRowsUrl },
      dedupeKey: `review-import:${run.id}`,
    })
  })
}

/** Ends an import that still waits or runs; what was imported stays. */
export async function failImport(ctx: Context, importId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const reason = 'Something went wrong on our side'
    const failed = await tx.db
      .updateTable('review_imports')
      .set({ status: 'failed', failure_reason: reason, finished_at: now, updated_at: now })
      .where('id', '=', importId)
      .where('status', 'in', ['queued', 'running'])
      .returning('imported')
      .executeTakeFirst()
    if (!failed) return
    await tx.db.deleteFrom('review_import_rows').where('import_id', '=', importId).execute()
    await notify(tx, {
      type: 'review-import-failed',
      level: 'error',
      title: 'The import of reviews failed',
      message: `${reason}. ${failed.imported} were imported before and stay; import the file again for the others.`,
      data: { jobId: importId },
      dedupeKey: `review-import:${importId}`,
    })
  })
}
