/** Stores, their people and keys, their connections, files and exports, and events of providers. */
import type { Generated } from 'kysely'
import type { DefaultJson, Instant, Json, NullableInstant, ServerPlacement, StoreColumn } from './columns.ts'

interface AgenciesRow {
  id: string
  name: string
  branding: DefaultJson
  created_at: Instant
  updated_at: Instant
}

interface UsersRow {
  id: string
  name: string
  email: string
  created_at: Instant
  updated_at: Instant
}

interface StoresRow {
  id: string
  slug: string
  public_id: string
  name: string
  domain: string
  platform: Generated<string>
  platform_store_id: string | null
  email: string | null
  phone: string | null
  country: string
  currency: string
  timezone: string
  locale: Generated<string>
  logo_url: string | null
  agency_id: string | null
  messaging_connection_type: string | null
  attribution: DefaultJson
  preferences: DefaultJson
  storefront_revision: Generated<number>
  onboarding: DefaultJson
  onboarding_completed_at: NullableInstant
  joined_at: Instant
  created_at: Instant
  updated_at: Instant
}

interface MembershipsRow {
  store_id: StoreColumn
  user_id: string
  role: string
  joined_at: Instant
  removed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface InvitationsRow {
  store_id: StoreColumn
  id: string
  email: string
  role: string
  status: Generated<string>
  token_hash: string
  invited_by: string
  accepted_at: NullableInstant
  expires_at: Instant
  created_at: Instant
  updated_at: Instant
}

interface ApiKeysRow {
  store_id: StoreColumn
  id: string
  user_id: string
  name: string
  hash: string
  prefix: string
  scopes: string[]
  environment: Generated<string>
  expires_at: NullableInstant
  revoked_at: NullableInstant
  revoked_reason: string | null
  /** The key with which a merchant granted this key. This key is never valid for longer than that one. */
  parent_id: string | null
  /** When the current access token expires, for a key whose token is renewed (OAuth). */
  token_expires_at: NullableInstant
  last_used_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ConnectionsRow {
  store_id: StoreColumn
  port: string
  provider: string
  credentials: string | null
  settings: DefaultJson
  connected_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

/** The health of a connection to a provider (store, rule 19). */
export interface HealthColumns {
  state: string
  since: Instant
  code: string | null
  message: string | null
  remedy: string | null
  /** The instants of recent failures, while they do not count as an outage yet. */
  failed_at: DefaultJson
  /** When the connection last failed or was lost. */
  troubled_at: Instant
  checked_at: Instant
  /** Whether the merchant was notified of this loss. */
  is_told: Generated<boolean>
  /** When the merchant was last notified; `told_code`: of which loss. */
  told_at: NullableInstant
  told_code: string | null
  probes: Generated<number>
  next_probe_at: NullableInstant
  updated_at: Instant
}

interface ConnectionHealthRow extends HealthColumns {
  store_id: StoreColumn
  port: string
  /** Which of the store's phone numbers; empty if the port allows only one connection. */
  part: Generated<string>
  provider: string
  /** Identifies the connection: a later connection has another instant. */
  connected_at: NullableInstant
}

interface ProviderHealthRow extends HealthColumns {
  port: string
  provider: string
}

interface FilesRow {
  store_id: StoreColumn
  id: string
  purpose: string
  key: string
  url: string
  file_name: string | null
  content_type: string
  size: number
  visibility: string
  uploaded_at: NullableInstant
  expires_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface FileUsesRow {
  store_id: StoreColumn
  file_id: string
  owner: string
  created_at: Instant
}

interface ExportsRow {
  store_id: StoreColumn
  id: string
  name: string
  user_id: string
  email: string
  query: Json
  query_hash: string
  status: Generated<string>
  rows: number | null
  failure_reason: string | null
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ProviderEventsRow {
  id: string
  store_id: string | null
  port: string
  provider: string
  key: string
  kind: string
  payload: Json
  occurred_at: Instant
  applied_at: NullableInstant
  attempts: Generated<number>
  failure: string | null
  created_at: Instant
}

/** A view: current and former members of the store (removed_at). */
interface StorePeopleRow {
  store_id: StoreColumn
  user_id: string
  name: string
  email: string
  role: string
  joined_at: Instant
  removed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

/** A view: the agency of the store, if any. */
interface StoreAgenciesRow {
  store_id: StoreColumn
  name: string
  branding: Json
}

export interface StoreTables {
  stores: StoresRow
  memberships: MembershipsRow
  invitations: InvitationsRow
  api_keys: ApiKeysRow
  connections: ConnectionsRow
  connection_health: ConnectionHealthRow
  files: FilesRow
  file_uses: FileUsesRow
  exports: ExportsRow
  store_people: StorePeopleRow
  store_agencies: StoreAgenciesRow
}

/** The lookup index: finds a store by a value; maintained by `db/lookup-index/write-through.ts` only. */
interface DirectoryRow {
  kind: string
  key: string
  store_id: string
  is_sole: boolean
}

export interface StoreSystemTables {
  directory: DirectoryRow
  agencies: AgenciesRow
  users: UsersRow
  provider_events: ProviderEventsRow
  provider_health: ProviderHealthRow
}

export const storeTables: Record<keyof StoreTables, 'id' | 'store_id'> = {
  stores: 'id',
  memberships: 'store_id',
  invitations: 'store_id',
  api_keys: 'store_id',
  connections: 'store_id',
  connection_health: 'store_id',
  files: 'store_id',
  file_uses: 'store_id',
  exports: 'store_id',
  store_people: 'store_id',
  store_agencies: 'store_id',
}

export const storeSystemTables: Record<keyof StoreSystemTables, ServerPlacement> = {
  directory: 'coordinator',
  agencies: 'everywhere',
  users: 'everywhere',
  provider_events: 'coordinator',
  provider_health: 'coordinator',
}
