import { type Kysely, sql } from 'kysely'

/** Indexes of files by address and by owner; of messages by the provider's id and by phone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create index files_url on files (store_id, url)`,
  `create index file_uses_owner on file_uses (store_id, owner)`,
  `create index message_ledger_provider on message_ledger (store_id, provider_message_id)
    where provider_message_id is not null`,
  `create index message_ledger_phone on message_ledger (store_id, phone_key, sent_at)
    where phone_key is not null`,
]
