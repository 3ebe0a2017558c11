import { type Kysely, sql } from 'kysely'

/**
 * The lookup index: finds a store by a value. As a view: each kind uses its own table's index, and writers are not
 * affected. On a cluster it is a table (`db/citus/lookup-index.ts`).
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
  // A provider's own ids are looked up with the provider's name.
  `create index stores_platform on stores ((platform || ':' || platform_store_id))`,
  `create index checkouts_listed on checkouts ((provider || ':' || provider_checkout_id))`,
]
