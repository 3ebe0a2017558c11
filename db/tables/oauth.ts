/** Assistants that connect by OAuth: who they are, and what waits to become a key or renews one. */
import type { Instant, Json, NullableInstant, ServerPlace } from './columns.ts'

interface OauthClientsRow {
  id: string
  /** As the client calls itself. */
  name: string
  redirect_uris: Json
  created_at: Instant
  /** When a store was last connected to it. */
  used_at: NullableInstant
}

interface OauthCodesRow {
  hash: string
  client_id: string
  redirect_uri: string
  /** Of PKCE, S256. */
  challenge: string
  /** What its key is to be named. */
  name: string
  store_id: string
  /** The key that was shown. */
  parent_id: string
  scopes: string[]
  grant_ends_at: Instant
  expires_at: Instant
  used_at: NullableInstant
  /** The key that was made of it. */
  key_id: string | null
}

interface OauthGrantsRow {
  family_hash: string
  /** Of the whole refresh token that is good. */
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

/** All are found before their store is known. */
export const oauthSystemTables: Record<keyof OauthSystemTables, ServerPlace> = {
  oauth_clients: 'coordinator',
  oauth_codes: 'coordinator',
  oauth_grants: 'coordinator',
}
