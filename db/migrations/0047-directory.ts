import { type Kysely, sql } from 'kysely'

/**
 * The way to a store from what is known without it. A view: each kind asks its own table by the index that is there, and
 * nobody who writes learns of it. A cluster has a table in its place (`db/citus/directory.ts`).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const list = (
  kind: string,
  isSole: boolean,
  key: string,
  table: string,
  { store = 'store_id', where = 'true' } = {},
) =>
  `select '${kind}'::text as kind, ${key} as key, ${store} as store_id, ${isSole} as is_sole
   from ${table} where (${key}) is not null and ${where}`

const ofStores = { store: 'id' }
const lines = [
  list('api-key', true, 'hash', 'api_keys'),
  list('invitation', true, 'token_hash', 'invitations'),
  list('store-slug', true, 'slug', 'stores', ofStores),
  list('store-public-id', true, 'public_id', 'stores', ofStores),
  list('store-domain', true, 'domain', 'stores', ofStores),
  list('platform-store', false, `platform || ':' || platform_store_id`, 'stores', ofStores),
  list('messaging-setup', true, 'state_hash', 'messaging_setups'),
  list('messaging-session', true, 'session_ref', 'messaging_connections'),
  list('messaging-number', false, 'number_id', 'messaging_connections', { where: `type <> 'shared'` }),
  list('messaging-phone', false, 'phone_key', 'messaging_connections', { where: `type <> 'shared'` }),
  list('messaging-account', false, 'account_id', 'messaging_connections'),
  list('message-template', false, 'provider_id', 'message_templates'),
  list('chat-agent-code', true, 'code_hash', 'chat_agent_codes'),
  list('chat-agent-phone', true, 'phone_key', 'chat_agent_bindings'),
  list('checkout', false, `provider || ':' || provider_checkout_id`, 'checkouts'),
]

const statements = [
  `create view directory as ${lines.join('\n union all ')}`,
  // What a provider calls its own is looked for with its name.
  `create index stores_platform on stores ((platform || ':' || platform_store_id))`,
  `create index checkouts_listed on checkouts ((provider || ':' || provider_checkout_id))`,
]
