/** Assistants that connect by OAuth: clients, authorization codes and refresh grants. */
import type { Instant, Json, NullableInstant, ServerPlacement } from './columns.ts'

interface OauthClientsRow {
  id: string
  /** The name that the client has given itself. */
  name: string
  redirect_uris: Json
  created_at: Instant
  /** When a store last connected this client. */
  used_at: NullableInstant
}

interface OauthCodesRow {
  hash: string
  client_id: string
  redirect_uri: string
  /** The PKCE challenge, S256. */
  challenge: string
  /** The name that the new key will get. */
  name: string
  store_id: string
  /** The key with which the merchant granted access. */
  parent_id: string
  scopes: string[]
  grant_ends_at: Instant
  expires_at: Instant
  used_at: NullableInstant
  /** The key that was created for this code; null before. */
  key_id: string | null
}

interface OauthGrantsRow {
  family_hash: string
  /** The hash of the current refresh token. */
  refresh_hash: string
  renewed_at: Instant
  client_id: string
  store_id: string
  key_id: string
  expires_at: Instant
  created_at: Instant
}

export interface OauthSystemTables {
  oauth_clients: OauthClientsRow
  oauth_codes: OauthCodesRow
  oauth_grants: OauthGrantsRow
}

/** All are on the coordinator, since they are looked up before their store is known. */
export const oauthSystemTables: Record<keyof OauthSystemTables, ServerPlacement> = {
  oauth_clients: 'coordinator',
  oauth_codes: 'coordinator',
  oauth_grants: 'coordinator',
}
