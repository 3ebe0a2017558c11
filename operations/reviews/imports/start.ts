/** Starting imports of reviews. */

import { sql } from 'kysely'
import type { Context, Queued } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reviewImport } from '../handles.ts'
import { columnsOf } from './columns.ts'
import { type CsvRow, readCsv } from './text.ts'

const bytesAtMost = 10 * 1024 * 1024
const stagedAtOnce = 5000

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
    for (let from = 0; from < rows.length; from += stagedAtOnce) {
      await stage(tx, importId, rows.slice(from, from + stagedAtOnce))
    }
    const queued = await tx.queue(reviewImport, { importId }, { id: importId })
    return { ...queued, rows: rows.length }
  })
}

/** Thousands of rows in one statement. */
async function stage(tx: Context, importId: string, rows: readonly CsvRow[]): Promise<void> {
  const json = JSON.stringify(rows)
  await tx.db
    .insertInto('review_import_rows')
    .columns(['import_id', 'line', 'cells'])
    .expression((eb) =>
      eb
        .selectFrom(
          sql<{ line: number; cells: unknown }>`jsonb_to_recordset(${json}::jsonb)`.as<'r'>(
            sql`r(line int, cells jsonb)`,
          ),
        )
        .select([sql<string>`${importId}::uuid`.as('import_id'), 'r.line', sql<string>`r.cells`.as('cells')]),
    )
    .execute()
}
