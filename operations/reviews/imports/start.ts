/** Starts imports of reviews. */

import { imports } from '#operations/store/index'
import type { Context, Queued } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reviewImport } from '../handles.ts'
import { parseHeader } from './columns.ts'
import { readCsv } from './csv.ts'
import { rewriteNumericDates } from './numeric-dates.ts'

const bytesAtMost = 10 * 1024 * 1024

/**
 * Reads the whole file and queues its import. Do not call it inside a transaction, because a large file takes time.
 * Refuses a file over 10 MB, a header without a required column, no rows or too many, and unmatched quotes.
 */
export async function importReviews(
  ctx: Context,
  { csv, status }: { csv: string; status: 'approved' | 'pending' },
): Promise<Queued & { rows: number }> {
  if (Buffer.byteLength(csv) > bytesAtMost) throw refuse('bad_request', 'csv: must have at most 10 MB')
  const { header, rows } = await readCsv(csv)
  const { at } = parseHeader(header)
  rewriteNumericDates(rows, [...at.review_date, ...at.reply_date])
  return ctx.transaction(async (tx) => {
    const importId = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('review_imports')
      .values({
        id: importId,
        status: 'queued',
        columns: JSON.stringify(header),
        default_status: status,
        total: rows.length,
        user_id: tx.actor.userId,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const cells = rows.map((row) => [row.line, row.cells] as const)
    await imports.stageRows(tx, 'review_import_rows', importId, cells)
    const queued = await tx.queue(reviewImport, { importId }, { id: importId })
    return { ...queued, rows: rows.length }
  })
}
