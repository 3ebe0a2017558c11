/**
 * Reads and changes contacts: the people who write to a store. A store has one contact per address. An address is a
 * phone, or the provider's id of a person whose phone is hidden.
 */
import { sql } from 'kysely'
import type { optOuts } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { trimVisible } from '#runtime/values/confusables'
import { phoneKey } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import { inboxContactTier } from '../handles.ts'
import { buildSearchText } from '../words.ts'

const longestName = 200
const cleanName = (given: string | null): string | null =>
  truncate(trimVisible(given) ?? '', longestName) || null

interface Names {
  given_name: string | null
  profile_name: string | null
  order_name: string | null
}

/** Builds the search text from the displayed name and the profile name. */
const buildContactSearchText = ({
  given_name: given,
  profile_name: profile,
  order_name: ordered,
}: Names): string => buildSearchText([given ?? profile ?? ordered, profile])

/** Finds or creates the contact of a phone. A new profile name replaces the old one. */
export async function ensureContact(
  ctx: Context,
  phone: string,
  givenByThem: string | null,
): Promise<{ id: string; isNew: boolean }> {
  const key = phoneKey(phone)
  const profileName = cleanName(givenByThem)
  const now = ctx.now()
  const known = await findByKey(ctx, key)
  if (known) {
    const name = profileName ?? known.profile_name
    // biome-ignore lint/plugin/contact-spelling: found by its key; another spelling is kept
    if (known.phone !== phone || known.profile_name !== name)
      await updateProfile(ctx, known.id, phone, profileName)
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
      search_text: buildContactSearchText({
        given_name: null,
        profile_name: profileName,
        order_name: orderName,
      }),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'phone_key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added) return { id: added.id, isNew: true }
  // A concurrent transaction has created the contact, and has committed by now.
  return { id: (await findByKey(ctx, key))!.id, isNew: false }
}

/**
 * Updates the phone and the profile name. Reads the row under a lock, because the search text depends on names that may
 * change concurrently.
 */
async function updateProfile(
  ctx: Context,
  id: string,
  phone: string,
  profileName: string | null,
): Promise<void> {
  const locked = await lockNames(ctx, id).executeTakeFirst()
  if (!locked) return
  const profile_name = profileName ?? locked.profile_name
  await ctx.db
    .updateTable('contacts')
    .set({
      phone,
      profile_name,
      search_text: buildContactSearchText({ ...locked, profile_name }),
      updated_at: ctx.now(),
    })
    .where('id', '=', id)
    .execute()
}

const lockNames = (ctx: Context, id: string) =>
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
 * Sets the name that the team gives the contact; null shows the contact's own name again. Returns false if nothing
 * changed. With `onlyIfNone` an existing given name is kept.
 */
export async function giveName(
  ctx: Context,
  id: string,
  name: string | null,
  { onlyIfNone = false } = {},
): Promise<boolean> {
  const contact = await lockNames(ctx, id).executeTakeFirstOrThrow()
  if (contact.given_name === name || (onlyIfNone && contact.given_name !== null)) return false
  await ctx.db
    .updateTable('contacts')
    .set({
      given_name: name,
      search_text: buildContactSearchText({ ...contact, given_name: name }),
      updated_at: ctx.now(),
    })
    .where('id', '=', id)
    .execute()
  return true
}

/** Sets the contacts' order names to the names on their newest orders. */
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
        search_text: buildContactSearchText({ ...contact, order_name: name }),
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

/**
 * Sets `updated_at` of the conversations whose contact opts out or in, because a conversation shows the opt-out. It is
 * part of the statement that writes the opt-outs; `changed` has the phones.
 */
export const touchConversations: optOuts.OptOutUpdate = (db, now) =>
  db
    .updateTable('conversations')
    .set({ updated_at: now as Date })
    .where('contact_id', 'in', (eb) =>
      eb.selectFrom('contacts as k').innerJoin('changed as x', 'x.phone_key', 'k.phone_key').select('k.id'),
    )
    .returning('conversations.id')

/**
 * Moves a contact to the person's new address, so that it keeps its conversation. Does nothing if the new address already
 * has a contact.
 */
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

/** Gives a contact without a given name the name from the merchant's address book. */
export async function applyAddressBookName(
  ctx: Context,
  { phone, name }: { phone: string; name: string | null },
): Promise<void> {
  const contact = await findByKey(ctx, phoneKey(phone))
  if (!contact || contact.given_name !== null || name === null) return
  // A member may name the contact concurrently. `onlyIfNone` keeps that name.
  if (!(await giveName(ctx, contact.id, cleanName(name), { onlyIfNone: true }))) return
  await ctx.db
    .updateTable('conversations')
    .set({ updated_at: ctx.now() })
    .where('contact_id', '=', contact.id)
    .execute()
}

/** Finds the existing conversations with these phones. The map's keys are phones in the form of `phoneKey`. */
export async function findConversationsByPhone(
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
