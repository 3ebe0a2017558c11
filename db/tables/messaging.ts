/** Setups of official numbers, what is to be ended at providers, and the sandbox's side of numbers. */
import type { Generated } from 'kysely'
import type { DefaultJson, Instant, Json, NullableInstant, StoreColumn } from './columns.ts'

interface MessagingSetupsRow {
  store_id: StoreColumn
  id: string
  state_hash: string
  return_url: string
  started_at: Instant
  expires_at: Instant
  claimed_at: NullableInstant
  ended_at: NullableInstant
  outcome: string | null
}

interface MessagingReleasesRow {
  store_id: StoreColumn
  id: string
  kind: string
  provider: string
  /** Sealed. */
  credentials: string | null
  /** The session or account it is about. */
  subject: string | null
  templates: DefaultJson
  created_at: Instant
}

interface SharedWindowsRow {
  number_id: string
  phone_key: string
  last_inbound_at: Instant
}

interface SandboxNumbersRow {
  store_id: string
  phone: string
  display_name: string
  token: string
  is_token_valid: Generated<boolean>
  ready_at: NullableInstant
  quality: string | null
  tier: string | null
  number_status: string | null
  name_status: Generated<string>
}

interface SandboxQrCodesRow {
  payload: string
  store_id: string
  session_ref: string
  sequence: number
  lives_from: Instant
  lives_until: Instant
}

interface SandboxQrLinksRow {
  store_id: string
  session_ref: string
  phone: string | null
  name: string | null
  is_linked: boolean
}

interface SandboxSetupsRow {
  token: string
  store_id: string
  state: string
  return_url: string
  ends_at: Instant
  code: string | null
  phone: string | null
  display_name: string | null
  outcome: string | null
}

interface SandboxInboundsRow {
  store_id: string
  id: string
  number_id: string
  content: Json
  at: Instant
}

export interface MessagingConnectionTables {
  messaging_setups: MessagingSetupsRow
  messaging_releases: MessagingReleasesRow
}

export interface MessagingConnectionSystemTables {
  shared_windows: SharedWindowsRow
  sandbox_numbers: SandboxNumbersRow
  sandbox_qr_codes: SandboxQrCodesRow
  sandbox_qr_links: SandboxQrLinksRow
  sandbox_setups: SandboxSetupsRow
  sandbox_inbounds: SandboxInboundsRow
}

export const messagingConnectionTables: Record<keyof MessagingConnectionTables, 'store_id'> = {
  messaging_setups: 'store_id',
  messaging_releases: 'store_id',
}

export const messagingConnectionSystemTables: Record<keyof MessagingConnectionSystemTables, true> = {
  shared_windows: true,
  sandbox_numbers: true,
  sandbox_qr_codes: true,
  sandbox_qr_links: true,
  sandbox_setups: true,
  sandbox_inbounds: true,
}
