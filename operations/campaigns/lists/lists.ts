/** Reads, creates, renames, locks and deletes contact lists. Their names are unique per store, case-insensitive. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { findRow, preparedOne, refuseDuplicate, requireCapacity, requireRow } from '#runtime/database/rows'
import { matchesWords } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import { countOptedOut } from '../opt-outs/count.ts'
import type { ListSource } from './schema.ts'

const maxLists = 200
export const maxContacts = 200_000

const importJson = jsonObject({
  jobId: 'i.id',
  kind: 'i.kind',
  status: 'i.status',
  total: 'i.total',
  processed: 'i.processed',
  added: 'i.added',
  updated: 'i.updated',
  unchanged: 'i.unchanged',
  invalid: 'i.invalid',
  excluded: 'i.excluded',
  foreignPhones: 'i.foreign_phones',
  errors: 'i.errors',
  failureReason: 'i.failure_reason',
  startedAt: isoInstant('i.started_at'),
  finishedAt: isoInstant('i.finished_at'),
})

type Db = Context['db']

const listJson = (db: Db) =>
  jsonObject({
    id: 'l.id',
    name: 'l.name',
    source: 'l.source',
    filters: 'l.filters',
    size: 'l.size',
    optedOut: countOptedOut(db, sql.ref('l.id'), sql.ref('l.size')),
    customFieldNames: 'l.custom_field_names',
    import: sql`(${db
      .selectFrom('list_imports as i')
      .select(importJson.as('json'))
      .where('i.list_id', '=', sql.ref<string>('l.id'))
      .orderBy('i.id', 'desc')
      .limit(sql.lit(1))})`,
    lastSyncedAt: isoInstant('l.last_synced_at'),
    createdAt: isoInstant('l.created_at'),
    updatedAt: isoInstant('l.updated_at'),
  })

export const noSuchList = 'There is no such contact list'

/** Reads a list as JSON. Refuses an unknown one. */
export const getList = preparedOne(noSuchList, (db, { id }) => ({
  rows: db.selectFrom('contact_lists as l').where('l.id', '=', id),
  item: listJson(db),
}))

export interface ListFilters {
  /** A part of the name, case-insensitive. */
  search?: string | undefined
  source?: string | undefined
}

export const listLists = preparedList<ListFilters>((db, values, has) => {
  let rows = db.selectFrom('contact_lists as l')
  if (has('source')) rows = rows.where('l.source', '=', values.source!)
  if (has('search')) rows = rows.where(matchesWords(['l.name'], values.search))
  return { rows, item: listJson(db), order: [['l.id', 'desc']] }
})

/** Creates a list, in the caller's transaction. Refuses a taken name, and more than 200 lists. */
export async function createList(
  ctx: Context,
  list: { name: string; source: ListSource; filters?: object | null },
): Promise<string> {
  const full = `There are ${maxLists} lists, and there cannot be more: delete one first`
  await requireCapacity(ctx, ctx.db.selectFrom('contact_lists'), maxLists, full)
  const id = ctx.newId()
  const now = ctx.now()
  await unlessNameTaken(list.name, () =>
    ctx.db
      .insertInto('contact_lists')
      .values({
        id,
        name: list.name,
        source: list.source,
        filters: list.filters ? JSON.stringify(list.filters) : null,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  return id
}

/** Renames a list; the same name changes nothing. Refuses a taken name. */
export async function renameList(ctx: Context, id: string, name: string | undefined): Promise<void> {
  if (name === undefined) return
  const renamed = ctx.db
    .updateTable('contact_lists')
    .set({ name, updated_at: ctx.now() })
    .where('name', '!=', name)
    .returning('id')
  await unlessNameTaken(name, () => findRow(renamed, id))
}

const unlessNameTaken = <T>(name: string, write: () => Promise<T>): Promise<T> =>
  refuseDuplicate('contact_lists_name', `name: there is a list named ${name} already`, write)

const selectForUpdate = (ctx: Context) =>
  ctx.db
    .selectFrom('contact_lists')
    .select(['id', 'name', 'source', 'size', 'custom_field_names'])
    .forUpdate()

/**
 * Locks a list before a change of its contacts, so that its stored size stays correct and its limit holds. Undefined
 * for an unknown list.
 */
export const lockList = (ctx: Context, id: string) => findRow(selectForUpdate(ctx), id)

/** Like `lockList`, but refuses an unknown list. */
export const lockExistingList = (ctx: Context, id: string) => requireRow(selectForUpdate(ctx), id, noSuchList)
export type LockedList = Awaited<ReturnType<typeof lockExistingList>>

const blockingStatuses = ['scheduled', 'sending', 'paused']

/**
 * Deletes a list with its contacts, exclusions and imports; a running import then ends. Campaigns keep the list's name.
 * Refuses an unknown list, and a list that a scheduled, sending or paused campaign uses.
 */
export async function deleteList(ctx: Context, id: string): Promise<void> {
  // Locks the campaigns before the list (rule 10), and again after it for campaigns that were created meanwhile.
  if (isId(id)) await lockCampaigns(ctx, id)
  const list = await lockExistingList(ctx, id)
  await lockCampaigns(ctx, id)
  await ctx.db
    .updateTable('campaigns')
    .set({ list_id: null, list_name: list.name, updated_at: ctx.now() })
    .where('list_id', '=', id)
    .execute()
  for (const onListDeleted of ctx.extensions.listDeleted) await onListDeleted(ctx, id)
  await ctx.db.deleteFrom('contact_lists').where('id', '=', id).execute()
}

async function lockCampaigns(ctx: Context, listId: string): Promise<void> {
  const campaigns = await ctx.db
    .selectFrom('campaigns')
    .select(['name', 'status'])
    .where('list_id', '=', listId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  const using = campaigns.find((campaign) => blockingStatuses.includes(campaign.status))
  if (using) {
    throw refuse(
      'conflict',
      `The campaign ${using.name} is ${using.status} and uses this list: cancel it first`,
    )
  }
}
