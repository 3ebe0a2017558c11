/** Starting imports of reviews. */

import { imports } from '#operations/store/door'
import type { Context, Queued } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reviewImport } from '../handles.ts'
import { columnsOf } from './columns.ts'
import { readCsv } from './text.ts'

const bytesAtMost = 10 * 1024 * 1024

/**
 * Reads the file as a whole and queues its import. Not inside a transaction: a large file takes its time. Refuses a
 * file that is too large, a header that lacks a column, no row or too many, and quotes that do not match.
 */
export async function importReviews(
  ctx: Context,
  { csv, status }: { csv: string; status: 'approved' | 'pending' },
): Promise<Queued & { rows: number }> {
  if (Buffer.byteLength(csv) > bytesAtMost) throw refuse('bad_request', 'csv: must have at most 10 MB')
  const { header, rows } = await readCsv(csv)
  columnsOf(header)
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
    await imports.stage(tx, 'review_import_rows', importId, cells)
    const queued = await tx.queue(reviewImport, { importId }, { id: importId })
    return { ...queued, rows: rows.length }
  })
}
