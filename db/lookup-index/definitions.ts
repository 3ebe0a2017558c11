/**
 * Definitions of the lookup index: the values by which a store is found before it is known. On a single PostgreSQL the
 * index is the view of migration 0047, which has the same definitions; on a cluster it is a table.
 */
import type { Tables } from '../tables.ts'

export interface IndexDefinition {
  kind: LookupKind
  /**
   * The index that makes a value unique over all stores on a single PostgreSQL, if the value must be unique. On a
   * cluster `uniqueLookupIndex` replaces it.
   */
  unique?: string
  /** All columns that `key` reads. */
  columns: readonly string[]
  /** Computes the value from a row; null if the row has no entry in the index. */
  key(row: Readonly<Record<string, string | null>>): string | null
}

export type LookupKind =
  | 'api-key'
  | 'invitation'
  | 'store-slug'
  | 'store-public-id'
  | 'store-domain'
  | 'platform-store'
  | 'messaging-setup'
  | 'messaging-session'
  | 'messaging-number'
  | 'messaging-phone'
  | 'messaging-account'
  | 'message-template'
  | 'chat-agent-code'
  | 'chat-agent-phone'
  | 'checkout'

const column = (kind: LookupKind, name: string, unique?: string): IndexDefinition => ({
  kind,
  ...(unique ? { unique } : {}),
  columns: [name],
  key: (row) => row[name] ?? null,
})

/** Defines an index on an id that is only unique together with its provider. */
const providerColumns = (kind: LookupKind, provider: string, id: string): IndexDefinition => ({
  kind,
  columns: [provider, id],
  key: (row) => (row[id] == null ? null : buildProviderKey(row[provider]!, row[id])),
})
export const buildProviderKey = (provider: string, id: string): string => `${provider}:${id}`

/** Defines an index on a store's own number. A shared number belongs to all stores, so it has no entry. */
const ownNumberColumn = (kind: LookupKind, name: string): IndexDefinition => ({
  kind,
  columns: [name, 'type'],
  key: (row) => (row.type === 'shared' ? null : (row[name] ?? null)),
})

/** On a cluster, every write to these tables maintains the index (`db/lookup-index/write-through.ts`). */
export const indexDefinitions: Readonly<Partial<Record<keyof Tables, readonly IndexDefinition[]>>> = {
  api_keys: [column('api-key', 'hash', 'api_keys_hash_key')],
  invitations: [column('invitation', 'token_hash', 'invitations_token_hash_key')],
  stores: [
    column('store-slug', 'slug', 'stores_slug_key'),
    column('store-public-id', 'public_id', 'stores_public_id_key'),
    column('store-domain', 'domain', 'stores_domain_key'),
    providerColumns('platform-store', 'platform', 'platform_store_id'),
  ],
  messaging_setups: [column('messaging-setup', 'state_hash', 'messaging_setups_state_hash_key')],
  messaging_connections: [
    column('messaging-session', 'session_ref', 'messaging_connections_session'),
    ownNumberColumn('messaging-number', 'number_id'),
    ownNumberColumn('messaging-phone', 'phone_key'),
    column('messaging-account', 'account_id'),
  ],
  message_templates: [column('message-template', 'provider_id')],
  chat_agent_codes: [column('chat-agent-code', 'code_hash', 'chat_agent_codes_code_hash_key')],
  chat_agent_bindings: [column('chat-agent-phone', 'phone_key', 'chat_agent_bindings_phone_key_key')],
  checkouts: [providerColumns('checkout', 'provider', 'provider_checkout_id')],
}

/** On a cluster: the unique database index of the lookup index's table, for values that only one store may have. */
export const uniqueLookupIndex = 'directory_sole'

/** For each unique index over all stores: the kind of entries that replaces it on a cluster. */
export const uniqueLookupKinds: ReadonlyMap<string, LookupKind> = new Map(
  Object.values(indexDefinitions).flatMap((lines) =>
    lines.flatMap(({ kind, unique }) => (unique ? [[unique, kind] as const] : [])),
  ),
)
