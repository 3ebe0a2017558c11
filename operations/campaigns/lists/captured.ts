/** Adds contacts that a storefront form has captured to a list. */
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { changeSize } from './contacts.ts'
import { lockList, maxContacts } from './lists.ts'

export interface CaptureResult {
  status: 'added' | 'already-in-list' | 'list-missing' | 'list-full'
  /** The contact with this phone in the list, or null. */
  contactId: string | null
}

/**
 * Adds a person with a phone (E.164) to a list, in the caller's transaction. An existing contact stays unchanged.
 * Locks the list until the transaction ends, so call it last.
 */
export async function addCaptured(
  ctx: Context,
  listId: string,
  person: { phone: string; name: string | null; email: string | null; source: 'newsletter' | 'contact-form' },
): Promise<CaptureResult> {
  const key = phoneKey(person.phone)
  const known = await findContact(ctx, listId, key)
  if (known) return { status: 'already-in-list', contactId: known }
  const list = await lockList(ctx, listId)
  if (!list) return { status: 'list-missing', contactId: null }
  if (list.size >= maxContacts) return { status: 'list-full', contactId: null }
  const now = ctx.now()
  const added = await ctx.db
    .insertInto('list_contacts')
    .values({
      id: ctx.newId(),
      list_id: listId,
      phone: person.phone,
      phone_key: key,
      name: person.name,
      email: person.email,
      custom_fields: '{}',
      source: person.source,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'list_id', 'phone_key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  // Another transaction added the contact while this one waited for the lock.
  if (!added) return { status: 'already-in-list', contactId: await findContact(ctx, listId, key) }
  await changeSize(ctx, list, 1, [])
  return { status: 'added', contactId: added.id }
}

async function findContact(ctx: Context, listId: string, key: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('list_contacts')
    .select('id')
    .where('list_id', '=', listId)
    .where('phone_key', '=', key)
    .executeTakeFirst()
  return row?.id ?? null
}
