/** Official numbers and their setups, pending releases at providers, templates, and the sandbox's numbers. */
import type { Generated } from 'kysely'
import type {
  DefaultJson,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  ServerPlacement,
  StoreColumn,
} from './columns.ts'

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
  /** The encrypted grant of the provider, while the setup waits for an answer of the merchant. */
  granted: string | null
}

interface NumberUsersRow {
  store_id: StoreColumn
  number_id: string
  /** The provider's id of a person. */
  user_id: string
  phone: string
  seen_at: Instant
}

interface NumberPinsRow {
  store_id: StoreColumn
  number_id: string
  /** The encrypted PIN. */
  pin: string
  updated_at: Instant
}

interface MessagingReleasesRow {
  store_id: StoreColumn
  id: string
  kind: string
  provider: string
  /** The encrypted credentials. */
  credentials: string | null
  /** The session or account to release. */
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

interface MessagingConnectionsRow {
  store_id: StoreColumn
  type: string
  status: string
  provider: Generated<string>
  credentials: string | null
  number_id: string | null
  phone: string | null
  display_name: string | null
  issue_code: string | null
  connected_at: NullableInstant
  checked_at: NullableInstant
  phone_key: string | null
  account_id: string | null
  display_name_status: string | null
  health: NullableJson
  health_at: NullableInstant
  setup_id: string | null
  session_ref: string | null
  session_codes: string | null
  session_started_at: NullableInstant
  session_claimed_at: NullableInstant
  session_ended_at: NullableInstant
  end_reason: string | null
  lost_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface SenderNumbersRow {
  id: string
  next_at: Instant
  throttled_until: NullableInstant
}

interface MessageTemplatesRow {
  store_id: StoreColumn
  id: Generated<number>
  provider_id: string | null
  name: string
  language: string
  category: string
  header: NullableJson
  body: string
  footer: string | null
  buttons: DefaultJson
  examples: DefaultJson
  status: string
  rejection_reason: string | null
  quality: Generated<string>
  paused_until: NullableInstant
  submitted_at: NullableInstant
  reviewed_at: NullableInstant
  synced_at: NullableInstant
  placeholders: DefaultJson
  /** How often the template was submitted to the provider. */
  submission: Generated<number>
  was_approved: Generated<boolean>
  /** The instants of edits after approval in the last 30 days. */
  edited_at: Generated<Date[]>
  next_edit_at: NullableInstant
  status_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ContactWindowsRow {
  store_id: StoreColumn
  phone_key: string
  last_inbound_at: Instant
}

interface OptOutsRow {
  store_id: StoreColumn
  id: string
  phone: string
  phone_key: string
  note: string | null
  source: string
  campaign_id: string | null
  created_at: Instant
  updated_at: Instant
}

export interface MessagingConnectionTables {
  opt_outs: OptOutsRow
  messaging_connections: MessagingConnectionsRow
  message_templates: MessageTemplatesRow
  contact_windows: ContactWindowsRow
  messaging_setups: MessagingSetupsRow
  messaging_releases: MessagingReleasesRow
  number_users: NumberUsersRow
  number_pins: NumberPinsRow
}

export interface MessagingConnectionSystemTables {
  sender_numbers: SenderNumbersRow
  shared_windows: SharedWindowsRow
  sandbox_numbers: SandboxNumbersRow
  sandbox_qr_codes: SandboxQrCodesRow
  sandbox_qr_links: SandboxQrLinksRow
  sandbox_setups: SandboxSetupsRow
  sandbox_inbounds: SandboxInboundsRow
}

export const messagingConnectionTables: Record<keyof MessagingConnectionTables, 'store_id'> = {
  opt_outs: 'store_id',
  messaging_connections: 'store_id',
  message_templates: 'store_id',
  contact_windows: 'store_id',
  messaging_setups: 'store_id',
  messaging_releases: 'store_id',
  number_users: 'store_id',
  number_pins: 'store_id',
}

export const messagingConnectionSystemTables: Record<keyof MessagingConnectionSystemTables, ServerPlacement> =
  {
    sender_numbers: 'coordinator',
    shared_windows: 'coordinator',
    sandbox_numbers: 'coordinator',
    sandbox_qr_codes: 'coordinator',
    sandbox_qr_links: 'coordinator',
    sandbox_setups: 'coordinator',
    sandbox_inbounds: 'coordinator',
  }
