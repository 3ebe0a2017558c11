/** Exports of every page (rule 15): run by a job each, which wires its rows and columns, emailed as CSV. */

import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { Refusal } from '#runtime/errors'
import { isStopping, type JobAttempt } from '#runtime/job'
import { type Handle, handle as handleOf } from '#runtime/jobs/handle'
import { Refused } from '#runtime/ports/errors'
import { id, object } from '#runtime/schema'
import { sha256 } from '#runtime/values/ids'
import { entitlementOf } from '../quota/entitlement.ts'
import { byteOrderMark, type Cell, csvOf } from './csv.ts'
import { exportMail } from './export-mail.ts'
import * as files from './files.ts'

export type { Cell } from './csv.ts'

export interface ExportSource<Query = Record<string, unknown>> {
  /** Subject of the email and title of the notice, such as `Opt-outs`. */
  title: string
  /** Refuses what the job could not work with, when it is asked for. */
  check?(ctx: Context, query: Query): void
  /** Header of the CSV; asked once at the beginning. */
  columns(ctx: Context, query: Query): Promise<string[]> | string[]
  /** Rows in batches, read by key: never all at once. `columns`: what the header says; `atOnce`: rows of a batch. */
  rows(ctx: Context, query: Query, columns: string[], atOnce?: number): AsyncIterable<Cell[][]>
}

function sourceOf({ wired }: Context, name: string): ExportSource {
  const source = wired.exports[name]
  if (!source) throw new Error(`No section has wired the export ${name}`)
  return source
}

const payload = object({ exportId: id })
export type ExportHandle = Handle<typeof payload>

/** The handle of an export: `exports.handle('opt-outs-export')`. */
export const handle = (name: string): ExportHandle => handleOf(name, payload)

/** A live export without a sign of life for so long has lost its worker at the last try. */
const deadAfterMs = 6 * hourMs

/** Queues the export for the caller, in their transaction; the same one while it waits or runs is answered again. */
export async function start(
  ctx: Context,
  job: ExportHandle,
  query: Record<string, unknown>,
): Promise<{ jobId: string; status: 'queued'; email: string }> {
  sourceOf(ctx, job.name).check?.(ctx, query)
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
    .where('updated_at', '<', new Date(now.getTime() - deadAfterMs))
    .execute()
  for (;;) {
    const jobId = ctx.newId()
    const begun = await ctx.db
      .insertInto('exports')
      .values({ ...same, id: jobId, email, query: text, created_at: now, updated_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['store_id', 'user_id', 'name', 'query_hash'])
          // Written out: a parameter could not be matched with the index's own condition.
          .where(sql<boolean>`status in ('queued', 'running')`)
          .doNothing(),
      )
      .returning('id')
      .executeTakeFirst()
    if (begun) {
      await ctx.queue(job, { exportId: jobId }, { id: jobId })
      return { jobId, status: 'queued', email }
    }
    const live = await ctx.db
      .selectFrom('exports')
      .select(['id', 'email'])
      .where((eb) => eb.and(same))
      .where('status', 'in', ['queued', 'running'])
      .executeTakeFirst()
    // None: it ended between the two statements.
    if (live) return { jobId: live.id, status: 'queued', email: live.email }
  }
}

/** Larger files are sent as a link. */
const attachedAtMost = 5 * 1024 * 1024
const linkSeconds = 7 * 24 * 3600

interface ExportRow {
  id: string
  name: string
  user_id: string
  email: string
  query: unknown
}

/**
 * Streams the CSV to storage, mails it, notifies. Does nothing for an export that has ended, or whose member was
 * removed meanwhile. Throws what is worth another try, and after the last one has told the merchant.
 */
export async function run(
  ctx: Context,
  name: string,
  exportId: string,
  { isLast, signal }: Pick<JobAttempt, 'isLast' | 'signal'>,
): Promise<void> {
  const row = await begin(ctx, exportId)
  if (!row) return
  try {
    if (!(await entitlementOf(ctx)).canWrite) {
      await fail(ctx, exportId, 'The subscription does not allow exports any more')
      return
    }
    const fileName = `${name}-${exportId}.csv`
    const written = await write(ctx, row, fileName, signal)
    await mail(ctx, row, fileName, written)
    await finish(ctx, row, fileName, written.rows)
  } catch (error) {
    const isFinal = error instanceof Refusal || error instanceof Refused
    // A worker that stops hands the job back: it is tried again, whichever try this was.
    if (isFinal || (isLast && !isStopping(signal)))
      await fail(ctx, exportId, isFinal ? error.message : ourFault)
    if (!isFinal) throw error
  }
}
const ourFault = 'Something went wrong on our side: ask for it again'

/** Claims it for this run; null when there is nothing to do. */
async function begin(ctx: Context, exportId: string): Promise<ExportRow | null> {
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

interface Written {
  key: string
  rows: number
  /** In bytes. */
  size: number
  /** The whole file, where it is small enough to attach. */
  bytes: Uint8Array | null
  expiresAt: Date
}

async function write(ctx: Context, row: ExportRow, fileName: string, signal: AbortSignal): Promise<Written> {
  const written = { rows: 0, size: 0, expiresAt: new Date(ctx.now().getTime() + linkSeconds * 1000) }
  let kept: Buffer[] = []
  async function* content(): AsyncGenerator<Buffer> {
    for await (const { text, rows } of csv(ctx, row, signal)) {
      const bytes = Buffer.from(text)
      written.rows += rows
      written.size += bytes.length
      if (written.size <= attachedAtMost) kept.push(bytes)
      else kept = []
      yield bytes
    }
  }
  const { key } = await files.put(ctx, 'exports', {
    id: row.id,
    fileName,
    contentType: 'text/csv; charset=utf-8',
    visibility: 'private',
    content: Readable.from(content(), { objectMode: false }),
    expiresAt: written.expiresAt,
  })
  return { ...written, key, bytes: written.size <= attachedAtMost ? Buffer.concat(kept) : null }
}

/** Stops between two batches, once its job is to end: no source of rows has to think of it. */
async function* csv(
  ctx: Context,
  row: ExportRow,
  signal: AbortSignal,
): AsyncGenerator<{ text: string; rows: number }> {
  const source = sourceOf(ctx, row.name)
  const query = row.query as Record<string, unknown>
  const { timezone } = ctx.store
  const columns = await source.columns(ctx, query)
  signal.throwIfAborted()
  yield { text: byteOrderMark + csvOf([columns], timezone), rows: 0 }
  for await (const batch of source.rows(ctx, query, columns)) {
    signal.throwIfAborted()
    if (batch.length > 0) yield { text: csvOf(batch, timezone), rows: batch.length }
  }
}

async function mail(ctx: Context, row: ExportRow, fileName: string, written: Written): Promise<void> {
  const { bytes, key, rows, expiresAt } = written
  const link = bytes ? null : (await ctx.adapters.storage.signDownload(key, linkSeconds, fileName)).url
  const { title } = sourceOf(ctx, row.name)
  await ctx.adapters.mail.send({
    to: row.email,
    ...exportMail({ title, storeName: ctx.store.name, rows, link, expiresAt, timezone: ctx.store.timezone }),
    ...(bytes ? { attachments: [{ fileName, contentType: 'text/csv; charset=utf-8', content: bytes }] } : {}),
    idempotencyKey: row.id,
  })
}

async function finish(ctx: Context, row: ExportRow, fileName: string, rows: number): Promise<void> {
  const { title } = sourceOf(ctx, row.name)
  await settle(ctx, row.id, { status: 'completed', rows, failure_reason: null }, (within) =>
    notify(within, {
      type: 'export-ready',
      level: 'success',
      title: `${title}: the export is ready`,
      message: `${rows} rows were emailed to ${row.email}.`,
      data: { jobId: row.id, fileName, rows },
      recipientIds: [row.user_id],
      dedupeKey: `export:${row.id}`,
    }),
  )
}

/** Ends an export that still waits or runs, and tells its member why. `reason`: a plain sentence. */
export async function fail(ctx: Context, exportId: string, reason = ourFault): Promise<void> {
  await settle(ctx, exportId, { status: 'failed', rows: null, failure_reason: reason }, (within, row) =>
    notify(within, {
      type: 'export-failed',
      level: 'error',
      title: `${sourceOf(within, row.name).title}: the export failed`,
      message: `${reason}.`,
      data: { jobId: exportId },
      recipientIds: [row.user_id],
      dedupeKey: `export:${exportId}`,
    }),
  )
}

async function settle(
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
