/** Writes the report of an import: a file with the refused rows and their errors, to be corrected and imported again. */
import { Readable } from 'node:stream'
import { byteOrderMark, files, toCsv } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { importReports } from '../uploads.ts'

const linkSeconds = 7 * 24 * 3600
const atOnce = 1000
const reportColumns: readonly string[] = ['line', 'column', 'problem']

const contentType = 'text/csv; charset=utf-8'

export interface Report {
  /** A signed link, valid for 7 days. */
  url: string
  fileName: string
  contentType: string
}

/** Writes the file; returns null if no row was refused. */
export async function writeReport(ctx: Context, importId: string, header: string[]): Promise<Report | null> {
  const { n } = await ctx.db
    .selectFrom('review_import_rows')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('import_id', '=', importId)
    .where('fault', 'is not', null)
    .executeTakeFirstOrThrow()
  if (Number(n) === 0) return null
  const fileName = `rejected-reviews-${importId}.csv`
  const { key } = await files.put(ctx, importReports, {
    id: importId,
    fileName,
    contentType,
    visibility: 'private',
    content: Readable.from(streamReport(ctx, importId, header), { objectMode: false }),
    expiresAt: new Date(ctx.clock.ms() + linkSeconds * 1000),
  })
  const { url } = await ctx.adapters.storage.signDownload(key, linkSeconds, fileName)
  return { url, fileName, contentType }
}

async function* streamReport(ctx: Context, importId: string, header: string[]): AsyncGenerator<Buffer> {
  const { timezone } = ctx.store
  // The file may be an earlier report that was corrected: its own columns of a report are replaced.
  const kept = [...header.keys()].filter((at) => !reportColumns.includes(header[at]!.trim()))
  const names = kept.map((at) => header[at]!)
  yield Buffer.from(byteOrderMark + toCsv([[...reportColumns, ...names]], timezone))
  for (let after = 0; ; ) {
    const rows = await ctx.db
      .selectFrom('review_import_rows')
      .select(['line', 'cells', 'fault_column', 'fault'])
      .where('import_id', '=', importId)
      .where('fault', 'is not', null)
      .where('line', '>', after)
      .orderBy('line')
      .limit(atOnce)
      .execute()
    const last = rows.at(-1)
    if (!last) return
    yield Buffer.from(
      toCsv(
        rows.map((row) => [
          row.line,
          row.fault_column,
          row.fault,
          ...kept.map((at) => (row.cells as string[])[at] ?? ''),
        ]),
        timezone,
      ),
    )
    after = last.line
  }
}
