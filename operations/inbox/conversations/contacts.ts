/** The people who write to a store: one by the match form of their address, a phone or the provider's id of who shows none. */
import { sql } from 'kysely'
import type { optOuts } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { cut } from '#runtime/values/cut'
import { phoneKey } from '#runtime/values/phone'
import { seen } from '#runtime/values/signs'
import { inboxContactTier } from '../handles.ts'
import { searchTextOf } from '../words.ts'

const longestName = 200
const nameOf = (given: string | null): string | null => cut(seen(given) ?? '', longestName) || null

interface Names {
  given_name: string | null
  profile_name: string | null
  order_name: string | null
}

/** What somebody is found by: the name that is shown, and the one they give themselves. */
const foundBy = ({ given_name: given, profile_name: profile, order_name: ordered }: Names): string =>
  searchTextOf([given ?? profile ?? ordered, profile])

/** The contact of a phone, made where there is none; a name they give themselves replaces the one before. */
export async function ensureContact(
  ctx: Context,
  phone: string,
  givenByThem: string | null,
): Promise<{ id: string; isNew: boolean }> {
  const key = phoneKey(phone)
  const profileName = nameOf(givenByThem)
  const now = ctx.now()
  const known = await findByKey(ctx, key)
  if (known) {
    const name = profileName ?? known.profile_name
    // biome-ignore lint/plugin/contact-spelling: found by its key; another spelling is kept
    if (known.phone !== phone || known.profile_name !== name)
      await takeOver(ctx, known.id, phone, profileName)
    return { id: known.id, isNew: false }
  }
  const orderName = await nameOnOrder(ctx, key)
  const added = await ctx.db
    .insertInto('contacts')
    .values({
      id: ctx.newId(),
      phone,
      phone_key: key,
      profile_name: profileName,
      order_name: orderName,
      search_text: foundBy({ given_name: null, profile_name: profileName, order_name: orderName }),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'phone_key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added) return { id: added.id, isNew: true }
  // Somebody made it in this very moment: they have committed by now.
  return { id: (await findByKey(ctx, key))!.id, isNew: false }
}

/** What they are found by is made of names that others write at the same time: of the row as it is once it is held. */
async function takeOver(ctx: Context, id: string, phone: string, profileName: string | null): Promise<void> {
  const held = await holdNames(ctx, id).executeTakeFirst()
  if (!held) return
  const profile_name = profileName ?? held.profile_name
  await ctx.db
    .updateTable('contacts')
    .set({ phone, profile_name, search_text: foundBy({ ...held, profile_name }), updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
}

const holdNames = (ctx: Context, id: string) =>
  ctx.db
    .selectFrom('contacts')
    .select(['given_name', 'profile_name', 'order_name'])
    .where('id', '=', id)
    .forNoKeyUpdate()

const findByKey = (ctx: Context, key: string) =>
  ctx.db
    .selectFrom('contacts')
    .select(['id', 'phone', 'given_name', 'profile_name', 'order_name'])
    .where('phone_key', '=', key)
    .executeTakeFirst()

async function nameOnOrder(ctx: Context, key: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('orders')
    .select('customer_name')
    .where('phone_key', '=', key)
    .where('customer_name', 'is not', null)
    .orderBy('placed_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.customer_name ?? null
}

/**
 * Names a contact by hand; null goes back to their own. False when it was so already. `onlyIfNone`: a name that they have
 * stays.
 */
export async function giveName(
  ctx: Context,
  id: string,
  name: string | null,
  { onlyIfNone = false } = {},
): Promise<boolean> {
  const contact = await holdNames(ctx, id).executeTakeFirstOrThrow()
  if (contact.given_name === name || (onlyIfNone && contact.given_name !== null)) return false
  await ctx.db
    .updateTable('contacts')
    .set({
      given_name: name,
      search_text: foundBy({ ...contact, given_name: name }),
      updated_at: ctx.now(),
    })
    .where('id', '=', id)
    .execute()
  return true
}

/** The names on the newest orders of contacts, as the orders have them now. */
export async function refreshOrderNames(ctx: Context, contactIds: readonly string[]): Promise<void> {
  const contacts = await ctx.db
    .selectFrom('contacts')
    .select(['id', 'phone_key', 'given_name', 'profile_name', 'order_name'])
    .where(sql<boolean>`id = any(${[...contactIds]}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  for (const contact of contacts) {
    const name = await nameOnOrder(ctx, contact.phone_key)
    if (name === contact.order_name) continue
    await ctx.db
      .updateTable('contacts')
      .set({
        order_name: name,
        search_text: foundBy({ ...contact, order_name: name }),
        updated_at: ctx.now(),
      })
      .where('id', '=', contact.id)
      .execute()
    await ctx.db
      .updateTable('conversations')
      .set({ updated_at: ctx.now() })
      .where('contact_id', '=', contact.id)
      .execute()
  }
}

/** Conversations show whether their contact is opted out: they move with it, in the statement that changes it. */
export const moveConversations: optOuts.Mark = (db, now) =>
  db
    .updateTable('conversations')
    .set({ updated_at: now as Date })
    .where('contact_id', 'in', (eb) =>
      eb.selectFrom('contacts as k').innerJoin('changed as x', 'x.phone_key', 'k.phone_key').select('k.id'),
    )
    .returning('conversations.id')

/** Somebody goes by another address: their contact keeps its conversation, unless the other address has one already. */
export async function moveContact(ctx: Context, { from, to }: { from: string; to: string }): Promise<void> {
  const contact = await findByKey(ctx, phoneKey(from))
  if (!contact || (await findByKey(ctx, phoneKey(to)))) return
  await ctx.db
    .updateTable('contacts')
    .set({ phone: to, phone_key: phoneKey(to), updated_at: ctx.now() })
    .where('id', '=', contact.id)
    .execute()
  await ctx.db
    .updateTable('conversations')
    .set({ updated_at: ctx.now() })
    .where('contact_id', '=', contact.id)
    .execute()
  await refreshOrderNames(ctx, [contact.id])
  await ctx.queue(inboxContactTier, { contactIds: [contact.id] })
}

/** The name in the merchant's own address book, for who is a contact and was given none here. */
export async function nameFromAddressBook(
  ctx: Context,
  { phone, name }: { phone: string; name: string | null },
): Promise<void> {
  const contact = await findByKey(ctx, phoneKey(phone))
  if (!contact || contact.given_name !== null || name === null) return
  // The merchant may be naming them at this very moment: what they wrote stays.
  if (!(await giveName(ctx, contact.id, nameOf(name), { onlyIfNone: true }))) return
  await ctx.db
    .updateTable('conversations')
    .set({ updated_at: ctx.now() })
    .where('contact_id', '=', contact.id)
    .execute()
}

/** Of a contact's address: null for the provider's id of who shows no phone. Needs the alias `k`. */
export const shownPhone = sql<string | null>`case when k.phone like '+%' then k.phone end`

/** Among these phones, the conversations there are: by match form. */
export async function conversationsOf(
  ctx: Context,
  phones: readonly string[],
): Promise<Map<string, { conversationId: string; status: string }>> {
  if (phones.length === 0) return new Map()
  const keys = [...new Set(phones.map(phoneKey))]
  const rows = await ctx.db
    .selectFrom('contacts as k')
    .innerJoin('conversations as c', 'c.contact_id', 'k.id')
    .select(['k.phone_key', 'c.id', 'c.status'])
    .where(sql<boolean>`k.phone_key = any(${keys}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.phone_key, { conversationId: row.id, status: row.status }]))
}
