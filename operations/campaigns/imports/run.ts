/** Runs the job `list-import`: writes each page of an import into the list, and notifies the merchant at the end. */
import { sql } from 'kysely'
import { findKnownPhones } from '#operations/messaging/index'
import { imports } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { changeSize } from '../lists/contacts.ts'
import { type LockedList, lockList, maxContacts } from '../lists/lists.ts'
import { type Counts, mergeEntries } from './entries.ts'
import { countForeignPhones } from './foreign-phones.ts'
import { type ImportPage, type ListImport, readPage } from './pages.ts'
import { deleteStagedRows, findContactsByPhone, findExcludedPhones, writeContacts } from './writes.ts'

const maxErrors = 100

type Count = keyof Counts | 'foreign_phones'

export const listImports: imports.Importer<ListImport, ImportPage, Count, LockedList> = {
  name: 'list-import',
  table: 'list_imports',
  rowsTable: 'list_import_rows',
  columns: ['list_id', 'options', 'started_at'],
  counts: ['processed', 'added', 'updated', 'unchanged', 'invalid', 'excluded', 'foreign_phones'],
  columnsOnStart: (now) => ({ started_at: sql`coalesce(started_at, ${now}::timestamptz)` }),
  page: readPage,
  // Locks the list before the import's row (rule 10).
  lock: (tx, run) => lockList(tx, run.list_id),
  async write(tx, { id, list_id: listId, options }, { entries: read, next }, list) {
    const toPhone = await findKnownPhones(
      tx,
      read.flatMap((entry) => ('phone' in entry ? entry.phone : [])),
    )
    const entries = read.map((entry) =>
      'phone' in entry ? { ...entry, phone: toPhone(entry.phone) } : entry,
    )
    const keys = [...new Set(entries.flatMap((entry) => ('phone' in entry ? phoneKey(entry.phone) : [])))]
    const { counts, errors, written } = mergeEntries(entries, await findContactsByPhone(tx, listId, keys), {
      room: maxContacts - list.size,
      excluded: options.kind === 'ecomplatform' ? await findExcludedPhones(tx, listId, keys) : new Set(),
      updates: options.kind === 'csv' && options.updates,
      newId: () => tx.newId(),
    })
    await writeContacts(tx, listId, options.kind, written)
    const fields = new Set(written.flatMap((contact) => Object.keys(contact.customFields)))
    await changeSize(tx, list, counts.added, [...fields])
    if (options.kind === 'csv' && next !== null) await deleteStagedRows(tx, id, Number(next))
    return {
      counts: { ...counts, foreign_phones: countForeignPhones(entries, tx.store.country) },
      set: {
        ...(errors.length > 0 ? { errors: appendErrors(JSON.stringify(errors)) } : {}),
        ...(next === null ? { total: sql`processed + ${counts.processed}::int` } : {}),
      },
    }
  },
  async completed(
    tx,
    { list_id: listId, options },
    { foreign_phones: foreignPhones, ...counted },
    _page,
    list,
  ) {
    if (options.kind === 'ecomplatform') {
      const now = tx.now()
      await tx.db
        .updateTable('contact_lists')
        .set({ last_synced_at: now, updated_at: now })
        .where('id', '=', listId)
        .execute()
    }
    return {
      level: counted.invalid > 0 ? 'warning' : 'success',
      title: `Import into ${list.name} completed`,
      message: `Of ${counted.processed}: ${counted.added} added, ${counted.updated} updated, ${counted.unchanged} unchanged, ${counted.invalid} invalid, ${counted.excluded} left out.${foreignPhones > 0 ? ` ${foreignPhones} phones are of another country: check that they were read correctly.` : ''}`,
      data: { listId, ...counted, foreignPhones },
    }
  },
  async failed(tx, { list_id: listId, added }) {
    const { name } = await tx.db
      .selectFrom('contact_lists')
      .select('name')
      .where('id', '=', listId)
      .executeTakeFirstOrThrow()
    return {
      title: `Import into ${name} failed`,
      message: `${added} contacts were added before and stay in the list.`,
      data: { listId },
    }
  },
}

/** SQL that appends errors to the import's `errors`, and keeps only the first 100. */
const appendErrors = (json: string) => sql`(
  select jsonb_agg(e.error order by e.place) from (
    select error, place from jsonb_array_elements(errors || ${json}::jsonb) with ordinality as t(error, place)
    order by place limit ${sql.lit(maxErrors)}) e)`

export const runImport = (ctx: Context, importId: string, signal: AbortSignal): Promise<void> =>
  imports.run(ctx, listImports, importId, signal)
/** Marks the import as failed. Called when the job has failed and is not retried again. */
export async function failImport(ctx: Context, importId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('list_imports')
    .select('kind')
    .where('id', '=', importId)
    .executeTakeFirst()
  const isPlatform = row?.kind === 'ecomplatform'
  await imports.fail(
    ctx,
    listImports,
    importId,
    isPlatform ? 'The platform did not answer as it should' : undefined,
  )
}
