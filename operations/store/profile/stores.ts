/** Writes columns of a store's row, reads preferences and adds members. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { cleanEmail, emailKey, emailKeySql } from '#runtime/values/email'
import { newId } from '#runtime/values/ids'

export interface StoreSummary {
  id: string
  slug: string
  publicId: string
  name: string
  plan: string
}

/**
 * Selects the messaging connection through which messages are sent, in the caller's transaction. A connection may be selected
 * before it is connected. Does nothing if it is selected already.
 */
export async function selectConnection(
  ctx: Context,
  type: 'qr' | 'official' | 'shared' | null,
): Promise<void> {
  const changed = await ctx.db
    .updateTable('stores')
    .set({ messaging_connection_type: type, updated_at: ctx.now() })
    .where('messaging_connection_type', 'is distinct from', type)
    .returning('id')
    .execute()
  if (changed.length === 0) return
  for (const hook of ctx.extensions.connectionSelected) await hook(ctx)
}

/** Reads one of the store's preferences; null if it is not set. */
export async function readPreference(ctx: Context, name: string): Promise<unknown> {
  const value = sql<unknown>`preferences -> ${name}::text`.as('value')
  return (await ctx.db.selectFrom('stores').select(value).executeTakeFirstOrThrow()).value ?? null
}

/** Invalidates the storefront's cached settings. Runs in the caller's transaction. */
export const incrementStorefrontRevision = (ctx: Context) =>
  ctx.db.updateTable('stores').set({ storefront_revision: sql`storefront_revision + 1` }).execute()

/** Makes a person a member. Finds the user by email, ignoring case, or creates one. Refuses an existing member. */
export async function addMember(
  transaction: RootDatabase,
  now: Date,
  member: { storeId: string; email: string; name: string; role: 'owner' | 'member' | 'agent' },
): Promise<string> {
  const email = cleanEmail(member.email)
  const userId = await upsertUser(transaction, now, email, member.name)
  const added = await transaction
    .insertInto('memberships')
    .values({
      store_id: member.storeId,
      user_id: userId,
      role: member.role,
      joined_at: now,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'user_id'])
        .doUpdateSet({ role: member.role, joined_at: now, removed_at: null, updated_at: now })
        .where('memberships.removed_at', 'is not', null),
    )
    .returning('user_id')
    .execute()
  if (added.length === 0) throw refuse('conflict', `${email} is a member of the store already`)
  return userId
}

/** Returns the id of the user with this email; creates a missing user. Concurrent calls return the same user. */
async function upsertUser(
  transaction: RootDatabase,
  now: Date,
  email: string,
  name: string,
): Promise<string> {
  const find = () =>
    transaction
      .selectFrom('users')
      .select('id')
      .where(sql<boolean>`${emailKeySql('email')} = ${emailKey(email)}`)
      .executeTakeFirst()
  const known = await find()
  if (known) return known.id
  const made = await transaction
    .insertInto('users')
    .values({ id: newId(now.getTime()), name, email, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return (made ?? (await find()))!.id
}
