/** Reads, adds and removes the contacts of a list. A list has at most one contact per phone, compared by `phone_key`. */
import { type RawBuilder, sql } from 'kysely'
import { findKnownPhones, isOptedOut, isPhone, parseAddress } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedPages } from '#runtime/database/list'
import { preparedRow, requireRow } from '#runtime/database/rows'
import { matchesSearch, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { isId } from '#runtime/values/ids'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import type { NewContact } from './contact-schema.ts'
import { type LockedList, lockExistingList, lockList, maxContacts, noSuchList } from './lists.ts'

type Db = Context['db']

const phoneKeyColumn = sql.ref<string>('c.phone_key')

const contactJson = (db: Db) =>
  jsonObject({
    id: 'c.id',
    listId: 'c.list_id',
    phone: 'c.phone',
    name: 'c.name',
    email: 'c.email',
    customFields: 'c.custom_fields',
    source: 'c.source',
    platformCustomerId: 'c.platform_customer_id',
    optedOut: isOptedOut(db, phoneKeyColumn),
    createdAt: isoInstant('c.created_at'),
    updatedAt: isoInstant('c.updated_at'),
  })

export interface ContactFilters {
  /** A part of the name or email, or some digits of the phone. */
  search?: string | undefined
  optedOut?: boolean | undefined
}

/**
 * Parameters of the prepared statements, with `like` patterns. Which of them are present decides which statement runs.
 */
interface Conditions extends SearchFilter {
  listId: string
  onlyOptedOut?: true
  onlyReachable?: true
}

/**
 * The query for the list and the export of contacts, newest first. Phones are searched only for text that can be part
 * of a phone.
 */
export const contacts = {
  filters(ctx: Context, { listId, search, optedOut }: ContactFilters & { listId: string }): Conditions {
    return {
      listId,
      ...toSearchFilter(ctx, search),
      ...(optedOut === undefined ? {} : optedOut ? { onlyOptedOut: true } : { onlyReachable: true }),
    }
  },
  rows(db: Db, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('list_contacts as c').where('c.list_id', '=', values.listId)
    if (has('search')) rows = rows.where(matchesSearch(['c.name', 'c.email'], 'c.phone', values, has))
    if (has('onlyOptedOut')) rows = rows.where(isOptedOut(db, phoneKeyColumn))
    if (has('onlyReachable')) rows = rows.where(sql<boolean>`not ${isOptedOut(db, phoneKeyColumn)}`)
    return rows
  },
  order: [['c.id', 'desc']],
} as const

const listPage = preparedPages(
  contacts,
  (db, values, has) => {
    const isWhole = !has('search') && !has('onlyOptedOut') && !has('onlyReachable')
    const size = db.selectFrom('contact_lists as l').select('l.size').where('l.id', '=', values.listId)
    return {
      item: contactJson(db),
      page: 'c',
      table: 'list_contacts',
      // Without a filter the total is the list's stored size, or 0 for an unknown list.
      ...(isWhole ? { total: sql<number>`coalesce((${size}), 0)` } : {}),
    }
  },
  { text: ['search'] },
)

const find = preparedRow(noSuchList, (db, { id }: { id: string }) =>
  db.selectFrom('contact_lists').select('id').where('id', '=', id),
)

/** Throws `not_found` for an unknown list. */
export async function requireList(ctx: Context, listId: string): Promise<void> {
  await find(ctx, { id: listId })
}

/** Lists a page of a list's contacts, newest first. Refuses an unknown list. */
export async function listContacts(
  ctx: Context,
  listId: string,
  query: ContactFilters & Paging,
): Promise<JsonText> {
  if (!isId(listId)) throw refuse('not_found', noSuchList)
  const answer = await listPage(ctx, { ...query, listId })
  if (answer.text.startsWith('{"data":[]')) await requireList(ctx, listId)
  return answer
}

/**
 * Adds a contact, in the caller's transaction, and deletes an exclusion of its phone. Refuses an invalid phone, an unknown
 * or full list, and a phone that is already in the list.
 */
export async function addContact(ctx: Context, listId: string, input: NewContact): Promise<JsonText> {
  const given = parseAddress(input.phone, ctx.store.country) ?? requirePhone(input.phone, ctx.store.country)
  const phone = (await findKnownPhones(ctx, [given]))(given)
  const list = await lockExistingList(ctx, listId)
  const customFields = Object.fromEntries(
    Object.entries(input.customFields ?? {}).filter(([, value]) => value !== null),
  )
  if (list.size >= maxContacts) {
    throw refuse('conflict', `The list is full: it has ${maxContacts} contacts`)
  }
  const now = ctx.now()
  const added = await ctx.db
    .with('c', (db) =>
      db
        .insertInto('list_contacts')
        .values({
          id: ctx.newId(),
          list_id: listId,
          phone,
          phone_key: phoneKey(phone),
          name: input.name || null,
          email: input.email ?? null,
          custom_fields: JSON.stringify(customFields),
          source: 'manual',
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.columns(['store_id', 'list_id', 'phone_key']).doNothing())
        .returningAll(),
    )
    .selectFrom('c')
    .select((eb) => sql<string>`${contactJson(eb as unknown as Db)}::text`.as('text'))
    .executeTakeFirst()
  if (!added) throw refuse('conflict', `phone: ${phone} is in the list already`)
  await changeSize(ctx, list, 1, Object.keys(customFields))
  await ctx.db
    .deleteFrom('list_exclusions')
    .where('list_id', '=', listId)
    .where('phone_key', '=', phoneKey(phone))
    .execute()
  return new JsonText(added.text)
}

/**
 * Adds `by` to the size of a locked list, and `names`, custom fields that its contacts were given, to its custom field
 * names.
 */
export async function changeSize(
  ctx: Context,
  list: LockedList,
  by: number,
  names: readonly string[],
): Promise<void> {
  const all = [...new Set([...list.custom_field_names, ...names])].sort()
  const areNew = all.length > list.custom_field_names.length
  if (by === 0 && !areNew) return
  await ctx.db
    .updateTable('contact_lists')
    .set((eb) => ({
      size: eb('size', '+', by),
      custom_field_names: all,
      updated_at: ctx.now(),
    }))
    .where('id', '=', list.id)
    .execute()
}

/**
 * Whether a contact that is selected by its id is in the list. With a plain comparison PostgreSQL might scan the list
 * instead of using the id's index.
 */
export const isInList = (listId: string): RawBuilder<boolean> => sql<boolean>`(list_id = ${listId}) is true`

/**
 * Removes a contact, in the caller's transaction. For a list from the platform it records an exclusion, so that no sync
 * adds the phone again.
 */
export async function removeContact(ctx: Context, listId: string, contactId: string): Promise<void> {
  const list = await lockExistingList(ctx, listId)
  const contact = ctx.db
    .deleteFrom('list_contacts')
    .where(isInList(listId))
    .returning(['phone_key', 'custom_fields'])
  const removed = await requireRow(contact, contactId, 'There is no such contact in this list')
  const now = ctx.now()
  const gone = await findUnusedFields(ctx, listId, Object.keys(removed.custom_fields as object))
  await ctx.db
    .updateTable('contact_lists')
    .set((eb) => ({
      size: eb('size', '-', 1),
      custom_field_names: list.custom_field_names.filter((name) => !gone.includes(name)),
      updated_at: now,
    }))
    .where('id', '=', listId)
    .execute()
  if (list.source !== 'ecomplatform') return
  await ctx.db
    .insertInto('list_exclusions')
    .values({ list_id: listId, phone_key: removed.phone_key, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Removes contacts from all lists, in the caller's transaction, without recording exclusions. */
export async function dropContacts(ctx: Context, which: RawBuilder<boolean>): Promise<void> {
  const found = await ctx.db.selectFrom('list_contacts').select('list_id').distinct().where(which).execute()
  for (const listId of found.map((row) => row.list_id).sort()) {
    const list = await lockExistingList(ctx, listId)
    const gone = await ctx.db
      .deleteFrom('list_contacts')
      .where(isInList(listId))
      .where(which)
      .returning('custom_fields')
      .execute()
    const names = [...new Set(gone.flatMap((row) => Object.keys(row.custom_fields as object)))]
    const unused = await findUnusedFields(ctx, listId, names)
    await ctx.db
      .updateTable('contact_lists')
      .set((eb) => ({
        size: eb('size', '-', gone.length),
        custom_field_names: list.custom_field_names.filter((name) => !unused.includes(name)),
        updated_at: ctx.now(),
      }))
      .where('id', '=', listId)
      .execute()
  }
}

/**
 * Moves the contacts of a person whose phone was hidden to the address that is known now. A list that has the new address
 * already keeps that contact, with the name and email that it lacked. A phone stays: it was put on the list as such.
 */
export async function moveContacts(ctx: Context, { from, to }: { from: string; to: string }): Promise<void> {
  if (isPhone(from)) return
  const theirs = sql<boolean>`phone_key = ${from}`
  const found = await ctx.db.selectFrom('list_contacts').select('list_id').distinct().where(theirs).execute()
  for (const listId of found.map((row) => row.list_id).sort()) {
    if (!(await lockList(ctx, listId))) continue
    const known = await ctx.db
      .selectFrom('list_contacts')
      .select(['name', 'email'])
      .where('list_id', '=', listId)
      .where(theirs)
      .executeTakeFirst()
    const kept = await ctx.db
      .updateTable('list_contacts')
      .set((eb) => ({
        name: eb.fn.coalesce('name', eb.val(known?.name ?? null)),
        email: eb.fn.coalesce('email', eb.val(known?.email ?? null)),
        updated_at: ctx.now(),
      }))
      .where('list_id', '=', listId)
      .where('phone_key', '=', phoneKey(to))
      .returning('id')
      .executeTakeFirst()
    if (kept) continue
    await ctx.db
      .updateTable('list_contacts')
      .set({ phone: to, phone_key: phoneKey(to), updated_at: ctx.now() })
      .where('list_id', '=', listId)
      .where(theirs)
      .execute()
  }
  await dropContacts(ctx, theirs)
}

/** Finds which of these custom fields no contact of the list uses any more. */
async function findUnusedFields(ctx: Context, listId: string, names: string[]): Promise<string[]> {
  const gone: string[] = []
  for (const name of names) {
    const other = await ctx.db
      .selectFrom('list_contacts')
      .select('id')
      .where('list_id', '=', listId)
      .where(sql<boolean>`jsonb_exists(custom_fields, ${name})`)
      .limit(1)
      .executeTakeFirst()
    if (!other) gone.push(name)
  }
  return gone
}
