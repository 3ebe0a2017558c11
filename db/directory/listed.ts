/**
 * What the directory lists: by which values of its rows a store is found without being known. On one PostgreSQL it is the
 * view that migration 0047 makes, which says the same; on a cluster a table.
 */
import type { Tables } from '../tables.ts'

export interface Listed {
  kind: Kind
  /** What keeps it to one store, whoever writes: a unique index on one PostgreSQL, `soleIndex` on a cluster; or nothing. */
  unique?: string
  /** All that `key` reads. */
  columns: readonly string[]
  /** Null: not listed. */
  key(row: Readonly<Record<string, string | null>>): string | null
}

export type Kind =
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

const column = (kind: Kind, name: string, unique?: string): Listed => ({
  kind,
  ...(unique ? { unique } : {}),
  columns: [name],
  key: (row) => row[name] ?? null,
})

/** An id that is one at its provider alone. */
const ofProvider = (kind: Kind, provider: string, id: string): Listed => ({
  kind,
  columns: [provider, id],
  key: (row) => (row[id] == null ? null : providersKey(row[provider]!, row[id])),
})
export const providersKey = (provider: string, id: string): string => `${provider}:${id}`

/** A shared number is every store's. */
const ofItsOwn = (kind: Kind, name: string): Listed => ({
  kind,
  columns: [name, 'type'],
  key: (row) => (row.type === 'shared' ? null : (row[name] ?? null)),
})

/** Written on a cluster by whatever writes these tables (`db/directory/listing.ts`). */
export const listed: Readonly<Partial<Record<keyof Tables, readonly Listed[]>>> = {
  api_keys: [column('api-key', 'hash', 'api_keys_hash_key')],
  invitations: [column('invitation', 'token_hash', 'invitations_token_hash_key')],
  stores: [
    column('store-slug', 'slug', 'stores_slug_key'),
    column('store-public-id', 'public_id', 'stores_public_id_key'),
    column('store-domain', 'domain', 'stores_domain_key'),
    ofProvider('platform-store', 'platform', 'platform_store_id'),
  ],
  messaging_setups: [column('messaging-setup', 'state_hash', 'messaging_setups_state_hash_key')],
  messaging_connections: [
    column('messaging-session', 'session_ref', 'messaging_connections_session'),
    ofItsOwn('messaging-number', 'number_id'),
    ofItsOwn('messaging-phone', 'phone_key'),
    column('messaging-account', 'account_id'),
  ],
  message_templates: [column('message-template', 'provider_id')],
  chat_agent_codes: [column('chat-agent-code', 'code_hash', 'chat_agent_codes_code_hash_key')],
  chat_agent_bindings: [column('chat-agent-phone', 'phone_key', 'chat_agent_bindings_phone_key_key')],
  checkouts: [ofProvider('checkout', 'provider', 'provider_checkout_id')],
}

/** The index of a cluster's directory over what one store alone may have. */
export const soleIndex = 'directory_sole'

/** The kind of line that is in place of a unique index over all stores. */
export const soleKinds: ReadonlyMap<string, Kind> = new Map(
  Object.values(listed).flatMap((lines) =>
    lines.flatMap(({ kind, unique }) => (unique ? [[unique, kind] as const] : [])),
  ),
)
