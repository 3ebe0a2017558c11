/** Contact lists with their contacts and imports, and campaigns with their messages. */
import type { Generated } from 'kysely'
import type { DefaultJson, Instant, Json, NullableInstant, NullableJson, StoreColumn } from './columns.ts'

interface ContactListsRow {
  store_id: StoreColumn
  id: string
  name: string
  source: string
  filters: NullableJson
  size: Generated<number>
  custom_field_names: Generated<string[]>
  last_synced_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ListContactsRow {
  store_id: StoreColumn
  id: string
  list_id: string
  phone: string
  phone_key: string
  name: string | null
  email: string | null
  custom_fields: DefaultJson
  source: string
  platform_customer_id: string | null
  created_at: Instant
  updated_at: Instant
}

interface ListExclusionsRow {
  store_id: StoreColumn
  list_id: string
  phone_key: string
  created_at: Instant
}

interface ListImportsRow {
  store_id: StoreColumn
  id: string
  list_id: string
  kind: string
  status: string
  options: DefaultJson
  cursor: string | null
  total: number | null
  processed: Generated<number>
  added: Generated<number>
  updated: Generated<number>
  unchanged: Generated<number>
  invalid: Generated<number>
  excluded: Generated<number>
  foreign_phones: Generated<number>
  errors: DefaultJson
  failure_reason: string | null
  user_id: string | null
  started_at: NullableInstant
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ListImportRowsRow {
  store_id: StoreColumn
  import_id: string
  line: number
  cells: Json
}

type CampaignPause =
  | 'manual'
  | 'connection-lost'
  | 'template-unavailable'
  | 'number-limit'
  | 'provider-unavailable'
  | 'high-failure-rate'
  | 'subscription-inactive'
type CampaignFailure =
  | 'empty-audience'
  | 'missed-schedule'
  | 'list-busy'
  | 'connection-lost'
  | 'template-unavailable'
  | 'quota-exceeded'
  | 'subscription-inactive'
  | 'content-unfit'

interface CampaignsRow {
  store_id: StoreColumn
  id: string
  name: string
  list_id: string | null
  list_name: string | null
  content: Json
  send_window: NullableJson
  status: Generated<string>
  pause_reason: CampaignPause | null
  failure_reason: CampaignFailure | null
  audience_size: number | null
  audience_opted_out: number | null
  total: Generated<number>
  pending: Generated<number>
  sent: Generated<number>
  delivered: Generated<number>
  read: Generated<number>
  failed: Generated<number>
  skipped: Generated<number>
  cancelled: Generated<number>
  attempted_since_start: Generated<number>
  failed_since_start: Generated<number>
  reservation_id: string | null
  snapshot_at: NullableInstant
  last_progress_at: NullableInstant
  trouble_since: NullableInstant
  scheduled_at: NullableInstant
  started_at: NullableInstant
  paused_at: NullableInstant
  completed_at: NullableInstant
  next_batch_at: NullableInstant
  estimated_finish_at: NullableInstant
  created_by: string | null
  deleted_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface CampaignMessagesRow {
  store_id: StoreColumn
  id: string
  campaign_id: string
  contact_id: string | null
  phone: string
  phone_key: string
  name: string | null
  email: string | null
  custom_fields: DefaultJson
  status: string
  skip_reason: 'opted-out' | 'missing-variable' | 'too-long' | null
  failure_code: string | null
  failure_message: string | null
  text: string | null
  attempts: Generated<number>
  generation: Generated<number>
  provider_message_id: string | null
  claim_id: string | null
  claimed_at: NullableInstant
  called_at: NullableInstant
  reservation_id: string | null
  unit: Generated<string>
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface CampaignTables {
  contact_lists: ContactListsRow
  list_contacts: ListContactsRow
  list_exclusions: ListExclusionsRow
  list_imports: ListImportsRow
  list_import_rows: ListImportRowsRow
  campaigns: CampaignsRow
  campaign_messages: CampaignMessagesRow
}

export const campaignTables: Record<keyof CampaignTables, 'store_id'> = {
  contact_lists: 'store_id',
  list_contacts: 'store_id',
  list_exclusions: 'store_id',
  list_imports: 'store_id',
  list_import_rows: 'store_id',
  campaigns: 'store_id',
  campaign_messages: 'store_id',
}
