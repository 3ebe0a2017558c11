import { type Kysely, sql } from 'kysely'

/**
 * Text search within names, emails and phones, for stores with a million rows. Both extensions are trusted: the
 * database's owner may create them. `fastupdate` stays on, the default: a bulk import first adds to a pending list,
 * which is merged in megabytes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create extension if not exists pg_trgm`,
  // Adds the store, list or campaign to the same index, so that rows of others are not read.
  `create extension if not exists btree_gin`,
  `create index campaigns_search on campaigns using gin (store_id, lower(name) gin_trgm_ops)
    where deleted_at is null`,
  `create index campaign_messages_search on campaign_messages
    using gin (campaign_id, lower(name) gin_trgm_ops, phone gin_trgm_ops)`,
  `create index list_contacts_search on list_contacts
    using gin (list_id, lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, phone gin_trgm_ops)`,
  `create index opt_outs_search on opt_outs using gin (store_id, phone gin_trgm_ops)`,
  `create index orders_search on orders using gin (store_id, lower(number) gin_trgm_ops,
    lower(customer_name) gin_trgm_ops, lower(customer_email) gin_trgm_ops, customer_phone gin_trgm_ops)`,
]
