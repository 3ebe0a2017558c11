/** Runs exports (rule 15): each export has its own job, which provides rows and columns, and the CSV is emailed. */

import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'
import { isStopping, type JobAttempt } from '#runtime/job'
import { handle as createHandle, type Handle } from '#runtime/jobs/handle'
import { Refused } from '#runtime/ports/errors'
import { id, object } from '#runtime/schema'
import { sha256 } from '#runtime/values/ids'
import { readEntitlement } from '../quota/entitlement.ts'
import { byteOrderMark, type Cell, toCsv } from './csv.ts'
import { buildExportMail } from './export-mail.ts'
import * as files from './files.ts'

export type { Cell } from './csv.ts'

export interface ExportSource<Query = Record<string, unknown>> {
  /** Subject of the email and title of the notice, such as `Opt-outs`. */
  title: string
  /** Validates the query when the export is requested. */
  check?(ctx: Context, query: Query): void
  /** The CSV header; called once at the start. */
  columns(ctx: Context, query: Query): Promise<string[]> | string[]
  /** Yields rows in batches, read by keyset, never all at once. `columns`: the header; `batchSize`: rows per batch. */
  rows(ctx: Context, query: Query, columns: string[], batchSize?: number): AsyncIterable<Cell[][]>
}

function requireSource({ extensions }: Context, name: string): ExportSource {
  const source = extensions.exports[name]
  if (!source) throw new Error(`No section provides the export ${name}`)
  return source
}

const payload = object({ exportId: id })
export type ExportHandle = Handle<typeof payload>

/** The `monitor` of the operations that start exports. */
export const monitor = '/notifications?type=export-ready,export-failed'

/** Creates the handle of an export, for example `exports.handle('opt-outs-export')`. */
export const handle = (name: string): ExportHandle => createHandle(name, payload)

/** An unfinished export that was not updated for 6 hours must have crashed on its last attempt. */
const staleAfterMs = 6 * hourMs

/** Queues an export in the caller's transaction. If an equal export is queued or running, returns that one instead. */
export async function start(
  ctx: Context,
  job: ExportHandle,
  query: Record<string, unknown> & { forExcel?: boolean | undefined },
): Promise<{ jobId: string; status: 'queued'; email: string }> {
  const { forExcel: _forExcel, ...filters } = query
  requireSource(ctx, job.name).check?.(ctx, filters)
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = JSON.stringify(Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1))))
  const now = ctx.now()
  const { email } = await ctx.db
    .selectFrom('store_people')
    .select('email')
    .where('user_id', '=', ctx.actor.userId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  const same = { name: job.name, user_id: ctx.actor.userId!, query_hash: sha256(text) }
  await ctx.db
    .updateTable('exports')
    .set({ status: 'failed', failure_reason: 'It was interrupted', finished_at: now, updated_at: now })
    .where((eb) => eb.and(same))
    .where('status', 'in', ['queued', 'running'])
    .where('updated_at', '<', new Date(now.getTime() - staleAfterMs))
    .execute()
  for (;;) {
    const jobId = ctx.newId()
    const inserted = await ctx.db
      .insertInto('exports')
      .values({ ...same, id: jobId, email, query: text, created_at: now, updated_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['store_id', 'user_id', 'name', 'query_hash'])
          // Literals, because parameters would not match the predicate of the partial index.
          .where(sql<boolean>`status in ('queued', 'running')`)
          .doNothing(),
      )
      .returning('id')
      .executeTakeFirst()
    if (inserted) {
      await ctx.queue(job, { exportId: jobId }, { id: jobId })
      return { jobId, status: 'queued', email }
    }
    const live = await ctx.db
      .selectFrom('exports')
      .select(['id', 'email'])
      .where((eb) => eb.and(same))
      .where('status', 'in', ['queued', 'running'])
      .executeTakeFirst()
    // The other export is missing if it ended between the two statements: the loop tries again.
    if (live) return { jobId: live.id, status: 'queued', email: live.email }
  }
}

/** Larger files are not attached but linked. */
const maxAttachmentBytes = 5 * 1024 * 1024
const linkSeconds = 7 * 24 * 3600
const contentType = 'text/csv; charset=utf-8'

interface ExportRow {
  id: string
  name: string
  user_id: string
  email: string
  query: unknown
}

/**
 * Streams the CSV to storage, emails it and notifies the member who requested it. Does nothing if the export has ended or
 * the member was removed. Throws retryable errors; on the last attempt it notifies the member first.
 */
export async function run(
  ctx: Context,
  name: string,
  exportId: string,
  { isLast, signal }: Pick<JobAttempt, 'isLast' | 'signal'>,
): Promise<void> {
  const row = await claim(ctx, exportId)
  if (!row) return
  try {
    if (!(await readEntitlement(ctx)).canWrite) {
      await fail(ctx, exportId, 'The subscription does not allow exports any more')
      return
    }
    const fileName = `${name}-${exportId}.csv`
    const written = await writeFile(ctx, row, fileName, signal)
    const { url } = await ctx.adapters.storage.signDownload(written.key, linkSeconds, fileName)
    await mail(ctx, row, fileName, { ...written, url })
    await finish(ctx, row, fileName, { ...written, url })
  } catch (error) {
    const isFinal = error instanceof ApiError || error instanceof Refused
    // If the worker is shutting down, the job is requeued even on its last attempt, so the export has not failed.
    if (isFinal || (isLast && !isStopping(signal)))
      await fail(ctx, exportId, isFinal ? error.message : internalErrorMessage)
    if (!isFinal) throw error
  }
}
const internalErrorMessage = 'Something went wrong on our side: ask for it again'

/** Claims the export for this run; null if it has ended or its member was removed. */
async function claim(ctx: Context, exportId: string): Promise<ExportRow | null> {
  const isMember = await ctx.db
    .selectFrom('exports as e')
    .innerJoin('store_people as p', 'p.user_id', 'e.user_id')
    .select('e.id')
    .where('e.id', '=', exportId)
    .where('p.removed_at', 'is', null)
    .executeTakeFirst()
  const now = ctx.now()
  const row = await ctx.db
    .updateTable('exports')
    .set({
      status: isMember ? 'running' : 'dropped',
      finished_at: isMember ? null : now,
      updated_at: now,
    })
    .where('id', '=', exportId)
    .where('status', 'in', ['queued', 'running'])
    .returning(['id', 'name', 'user_id', 'email', 'query'])
    .executeTakeFirst()
  return isMember && row ? row : null
}

interface WrittenFile {
  key: string
  rows: number
  /** Size in bytes. */
  size: number
  /** The whole file, if it is small enough to attach. */
  bytes: Uint8Array | null
  expiresAt: Date
}

async function writeFile(
  ctx: Context,
  row: ExportRow,
  fileName: string,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const written = { rows: 0, size: 0, expiresAt: new Date(ctx.now().getTime() + linkSeconds * 1000) }
  let chunks: Buffer[] = []
  async function* content(): AsyncGenerator<Buffer> {
    for await (const { text, rows } of csv(ctx, row, signal)) {
      const bytes = Buffer.from(text)
      written.rows += rows
      written.size += bytes.length
      if (written.size <= maxAttachmentBytes) chunks.push(bytes)
      else chunks = []
      yield bytes
    }
  }
  const { key } = await files.put(ctx, 'exports', {
    id: row.id,
    fileName,
    contentType,
    visibility: 'private',
    content: Readable.from(content(), { objectMode: false }),
    expiresAt: written.expiresAt,
  })
  return { ...written, key, bytes: written.size <= maxAttachmentBytes ? Buffer.concat(chunks) : null }
}

/** Yields the CSV in batches. Checks the abort signal between batches, so that sources need not check it. */
async function* csv(
  ctx: Context,
  row: ExportRow,
  signal: AbortSignal,
): AsyncGenerator<{ text: string; rows: number }> {
  const source = requireSource(ctx, row.name)
  const { forExcel, ...query } = row.query as { forExcel?: boolean }
  const format = { forExcel: forExcel === true }
  const { timezone } = ctx.store
  const columns = await source.columns(ctx, query)
  signal.throwIfAborted()
  yield { text: byteOrderMark + toCsv([columns], timezone), rows: 0 }
  for await (const batch of source.rows(ctx, query, columns)) {
    signal.throwIfAborted()
    if (batch.length > 0) yield { text: toCsv(batch, timezone, format), rows: batch.length }
  }
}

type SignedFile = WrittenFile & { url: string }

async function mail(ctx: Context, row: ExportRow, fileName: string, written: SignedFile): Promise<void> {
  const { bytes, url, rows, expiresAt } = written
  const link = bytes ? null : url
  const { title } = requireSource(ctx, row.name)
  await files.sendMail(ctx, {
    to: row.email,
    ...buildExportMail({
      title,
      storeName: ctx.store.name,
      rows,
      link,
      expiresAt,
      timezone: ctx.store.timezone,
    }),
    ...(bytes ? { attachments: [{ fileName, contentType, content: bytes }] } : {}),
    idempotencyKey: row.id,
  })
}

async function finish(ctx: Context, row: ExportRow, fileName: string, written: SignedFile): Promise<void> {
  const { title } = requireSource(ctx, row.name)
  const { url, rows, size, expiresAt } = written
  await recordResult(ctx, row.id, { status: 'completed', rows, failure_reason: null }, (within) =>
    notify(within, {
      type: 'export-ready',
      level: 'success',
      title: `${title}: the export is ready`,
      message: `${rows} rows were emailed to ${row.email}.`,
      data: { jobId: row.id, fileName, rows, file: { url, fileName, contentType, size, expiresAt } },
      recipientIds: [row.user_id],
      dedupeKey: `export:${row.id}`,
    }),
  )
}

/** Fails a queued or running export and notifies its member. `reason`: a sentence without the full stop. */
export async function fail(ctx: Context, exportId: string, reason = internalErrorMessage): Promise<void> {
  await recordResult(ctx, exportId, { status: 'failed', rows: null, failure_reason: reason }, (within, row) =>
    notify(within, {
      type: 'export-failed',
      level: 'error',
      title: `${requireSource(within, row.name).title}: the export failed`,
      message: `${reason}.`,
      data: { jobId: exportId },
      recipientIds: [row.user_id],
      dedupeKey: `export:${exportId}`,
    }),
  )
}

async function recordResult(
  ctx: Context,
  exportId: string,
  end: { status: 'completed' | 'failed'; rows: number | null; failure_reason: string | null },
  tell: (within: Context, row: { name: string; user_id: string }) => Promise<void>,
): Promise<void> {
  await ctx.transaction(async (within) => {
    const now = within.now()
    const row = await within.db
      .updateTable('exports')
      .set({ ...end, finished_at: now, updated_at: now })
      .where('id', '=', exportId)
      .where('status', 'in', ['queued', 'running'])
      .returning(['name', 'user_id'])
      .executeTakeFirst()
    if (row) await tell(within, row)
  })
}
