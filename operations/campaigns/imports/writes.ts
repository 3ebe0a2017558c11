/** SQL statements of an import. A statement handles a whole page of rows. */
import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { insertRows } from '#runtime/database/recordset'
import type { ContactRecord, KnownContact } from './entries.ts'

/** Deletes an import's staged rows up to and including a line. */
export async function deleteStagedRows(ctx: Context, importId: string, upTo: number): Promise<void> {
  await ctx.db
    .deleteFrom('list_import_rows')
    .where('import_id', '=', importId)
    .where('line', '<=', upTo)
    .execute()
}

/** Deletes the staged rows of all imports that have ended. */
export async function dropStagedRows(system: SystemContext): Promise<void> {
  await system.root
    .deleteFrom('list_import_rows as r')
    .using('list_imports as i')
    .whereRef('i.store_id', '=', 'r.store_id')
    .whereRef('i.id', '=', 'r.import_id')
    .where('i.status', 'in', ['completed', 'failed'])
    .execute()
}

interface Keys {
  listId: string
  keys: string[]
}

/**
 * Finds contacts with one index lookup per phone. With `phone_key = any(…)`, a plan cached while the list was empty would
 * scan the whole list for each page of the import.
 */
const findContacts = prepared((db, values: Keys) =>
  db
    .selectFrom(sql<{ key: string }>`unnest(${values.keys}::text[])`.as<'k'>(sql`k(key)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('list_contacts as c')
          .select(['c.id', 'c.phone', 'c.phone_key', 'c.name', 'c.email', 'c.custom_fields'])
          .where('c.list_id', '=', values.listId)
          .whereRef('c.phone_key', '=', 'k.key')
          .limit(1)
          .as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found'),
)
/** Finds contacts of a list by their phones. `keys` are phones in the form of `phone_key`. */
export const findContactsByPhone = (ctx: Context, listId: string, keys: string[]): Promise<KnownContact[]> =>
  keys.length === 0 ? Promise.resolve([]) : findContacts(ctx, { listId, keys })

const findExcluded = prepared((db, values: Keys) =>
  db
    .selectFrom('list_exclusions as e')
    .select('e.phone_key')
    .where('e.list_id', '=', values.listId)
    .where(sql<boolean>`e.phone_key = any(${values.keys}::text[])`),
)
/** Finds which of these phones, in the form of `phone_key`, a member has removed from the list. */
export async function findExcludedPhones(ctx: Context, listId: string, keys: string[]): Promise<Set<string>> {
  const rows = keys.length === 0 ? [] : await findExcluded(ctx, { listId, keys })
  return new Set(rows.map((row) => row.phone_key))
}

const contactTypes = {
  id: 'uuid',
  phone: 'text',
  phone_key: 'text',
  name: 'text',
  email: 'text',
  custom_fields: 'jsonb',
  platform_customer_id: 'text',
} as const

/** Upserts contacts by phone. An existing contact gets the new name, email and custom fields. */
export async function writeContacts(
  ctx: Context,
  listId: string,
  source: string,
  contacts: readonly ContactRecord[],
): Promise<void> {
  if (contacts.length === 0) return
  const rows = contacts.map(({ phoneKey, customFields, platformCustomerId, ...contact }) => ({
    ...contact,
    phone_key: phoneKey,
    custom_fields: customFields,
    platform_customer_id: platformCustomerId,
  }))
  const now = sql`${ctx.now()}::timestamptz`
  await insertRows(ctx.db.insertInto('list_contacts'), contactTypes, rows, {
    list_id: sql`${listId}::uuid`,
    source: sql`${source}::text`,
    created_at: now,
    updated_at: now,
  })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'list_id', 'phone_key']).doUpdateSet((eb) => ({
        name: eb.ref('excluded.name'),
        email: eb.ref('excluded.email'),
        custom_fields: eb.ref('excluded.custom_fields'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute()
}
