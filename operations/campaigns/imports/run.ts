/** What `list-import` does: page by page, each with its contacts, its counts and its cursor in one transaction. */
import { setImmediate as others } from 'node:timers/promises'
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { phoneKey } from '#runtime/values/phone'
import { changeSize } from '../lists/contacts.ts'
import { contactsAtMost, lockList } from '../lists/lists.ts'
import { type Fault, settle } from './entries.ts'
import { type ImportOptions, type ImportPage, pageAfter } from './pages.ts'
import { contactsAmong, excludedAmong, unstageRows, writeContacts } from './writes.ts'

const errorsKept = 100
const live = ['queued', 'running']

interface Run {
  id: string
  listId: string
  options: ImportOptions
  startedAt: Date
  cursor: string | null
}

/**
 * Works through an import from where it stands. Ends without a word when the import has ended, its list is gone, or
 * another worker has taken it over. Throws what is worth another try.
 */
export async function runImport(ctx: Context, importId: string, signal: AbortSignal): Promise<void> {
  const run = await begin(ctx, importId)
  if (!run) return
  try {
    for (let cursor = run.cursor; ; ) {
      signal.throwIfAborted()
      const page = await pageAfter(ctx, run, cursor)
      const isOurs = await ctx.transaction((within) => applyPage(within, run, cursor, page))
      if (!isOurs || page.next === null) return
      cursor = page.next
      // The embedded database answers without leaving this turn of the event loop: requests would wait for the end.
      await others()
    }
  } catch (error) {
    // A platform that refuses, or is not connected any more, will not answer otherwise at the next try.
    if (!(error instanceof Refusal || error instanceof Refused)) throw error
    await failImport(ctx, importId, error.message)
  }
}

async function begin(ctx: Context, importId: string): Promise<Run | null> {
  const asked = await ctx.db
    .selectFrom('list_imports as i')
    .leftJoin('store_people as p', 'p.user_id', 'i.user_id')
    .select(['i.status', 'p.removed_at'])
    .where('i.id', '=', importId)
    .executeTakeFirst()
  if (asked?.status === 'queued' && asked.removed_at) {
    await failImport(ctx, importId, 'The member who asked for it was removed')
    return null
  }
  const now = ctx.now()
  const row = await ctx.db
    .updateTable('list_imports')
    .set((eb) => ({
      status: 'running',
      started_at: eb.fn.coalesce('started_at', eb.val(now)),
      updated_at: now,
    }))
    .where('id', '=', importId)
    .where('status', 'in', live)
    .returning(['list_id', 'options', 'cursor', 'started_at'])
    .executeTakeFirst()
  if (!row) return null
  return {
    id: importId,
    listId: row.list_id,
    options: row.options as ImportOptions,
    startedAt: row.started_at ?? now,
    cursor: row.cursor,
  }
}

/** False when the page is not ours to apply: the list is gone, the import ended, or another worker was faster. */
async function applyPage(
  ctx: Context,
  run: Run,
  cursor: string | null,
  { entries, next }: ImportPage,
): Promise<boolean> {
  // The list before the import, as those who delete a list do.
  const list = await lockList(ctx, run.listId)
  const row = await ctx.db
    .selectFrom('list_imports')
    .select(['cursor', 'status', 'errors'])
    .where('id', '=', run.id)
    .forUpdate()
    .executeTakeFirst()
  if (!list || row?.status !== 'running' || row.cursor !== cursor) return false

  const { options } = run
  const isPlatform = options.kind === 'ecomplatform'
  const keys = [...new Set(entries.flatMap((entry) => ('phone' in entry ? phoneKey(entry.phone) : [])))]
  const outcome = settle(entries, await contactsAmong(ctx, list.id, keys), {
    room: contactsAtMost - list.size,
    excluded: isPlatform ? await excludedAmong(ctx, list.id, keys) : new Set(),
    updates: options.kind === 'csv' && options.updates,
    newId: () => ctx.newId(),
  })
  const { counts, written } = outcome
  await writeContacts(ctx, list.id, options.kind, written)
  const fields = new Set(written.flatMap((contact) => Object.keys(contact.customFields)))
  await changeSize(ctx, list, counts.added, [...fields])
  const now = ctx.now()
  const counted = await ctx.db
    .updateTable('list_imports')
    .set((eb) => ({
      cursor: next,
      processed: eb('processed', '+', counts.processed),
      added: eb('added', '+', counts.added),
      updated: eb('updated', '+', counts.updated),
      unchanged: eb('unchanged', '+', counts.unchanged),
      invalid: eb('invalid', '+', counts.invalid),
      excluded: eb('excluded', '+', counts.excluded),
      errors: JSON.stringify([...(row.errors as Fault[]), ...outcome.errors].slice(0, errorsKept)),
      updated_at: now,
      ...(next === null
        ? { status: 'completed', finished_at: now, total: eb('processed', '+', counts.processed) }
        : {}),
    }))
    .where('id', '=', run.id)
    .returning(['processed', 'added', 'updated', 'unchanged', 'invalid', 'excluded'])
    .executeTakeFirstOrThrow()
  if (options.kind === 'csv') await unstageRows(ctx, run.id, next === null ? null : Number(next))
  if (next !== null) return true

  if (isPlatform) {
    await ctx.db
      .updateTable('contact_lists')
      .set({ last_synced_at: now, updated_at: now })
      .where('id', '=', list.id)
      .execute()
  }
  await notify(ctx, {
    type: 'list-import-completed',
    level: counted.invalid > 0 ? 'warning' : 'success',
    title: `Import into ${list.name} completed`.slice(0, 120),
    message: `Of ${counted.processed}: ${counted.added} added, ${counted.updated} updated, ${counted.unchanged} unchanged, ${counted.invalid} invalid, ${counted.excluded} left out.`,
    data: { jobId: run.id, listId: list.id, ...counted },
    dedupeKey: `list-import:${run.id}`,
  })
  return true
}

/** Ends an import that still waits or runs; what was added stays. `reason`: a plain sentence, by default by its kind. */
export async function failImport(ctx: Context, importId: string, reason?: string): Promise<void> {
  await ctx.transaction(async (within) => {
    const now = within.now()
    const row = await within.db
      .selectFrom('list_imports as i')
      .innerJoin('contact_lists as l', 'l.id', 'i.list_id')
      .select(['l.id', 'l.name', 'i.kind', 'i.added'])
      .where('i.id', '=', importId)
      .executeTakeFirst()
    if (!row) return
    const why =
      reason ??
      (row.kind === 'ecomplatform'
        ? 'The platform did not answer as it should'
        : 'Something went wrong on our side')
    const failed = await within.db
      .updateTable('list_imports')
      .set({ status: 'failed', failure_reason: why, finished_at: now, updated_at: now })
      .where('id', '=', importId)
      .where('status', 'in', live)
      .returning('id')
      .execute()
    if (failed.length === 0) return
    await unstageRows(within, importId, null)
    await notify(within, {
      type: 'list-import-failed',
      level: 'error',
      title: `Import into ${row.name} failed`,
      message: `${why}. ${row.added} contacts were added before and stay in the list.`,
      data: { jobId: importId, listId: row.id },
      dedupeKey: `list-import:${importId}`,
    })
  })
}
