import { type Kysely, sql } from 'kysely'

/**
 * A contact of a list is looked up by its phone. If the planner takes the list for a small one (newer than the
 * statistics, or one of very many), the index for pages seems as good as the unique one, though it reads the whole
 * list for each phone; of two equal indexes PostgreSQL chooses the newer one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table list_contacts drop constraint list_contacts_store_id_list_id_phone_key_key`,
  `alter table list_contacts add constraint list_contacts_phone_once unique (store_id, list_id, phone_key)`,
]
