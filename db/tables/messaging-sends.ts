/** Direct messages, the use of numbers, and settings and counters of the chat button and the assistant. */
import type { Generated } from 'kysely'
import type {
  FailedAs,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  ServerPlacement,
  StoreColumn,
} from './columns.ts'

interface MessageTemplateNamesRow {
  store_id: StoreColumn
  name: string
  language: string
  free_at: Instant
}

interface MessageTemplateCreationsRow {
  store_id: StoreColumn
  id: string
  created_at: Instant
  is_open: boolean
}

interface MessageTemplateSyncsRow {
  store_id: StoreColumn
  started_at: Instant
  is_running: boolean
}

interface NumberRecipientsRow {
  store_id: StoreColumn
  /** The key of the row: `<number id> <phone key>`. */
  recipient: string
  number_id: string
  counted_at: Instant
  before_at: NullableInstant
}

interface NumberUsageRow {
  store_id: StoreColumn
  number_id: string
  used: number
  /** The number's limit; null if it is unknown. */
  at_most: number | null
}

interface DirectMessagesRow {
  store_id: StoreColumn
  id: string
  request_key: string | null
  purpose: string
  source_id: string | null
  phone: string
  phone_key: string
  name: string | null
  type: string
  text: string | null
  media_url: string | null
  media_file_name: string | null
  officialapi_template_id: number | null
  template_parameters: NullableJson
  via: string | null
  connection_type: string
  /** The user who sent the message; null for a job. */
  sent_by: string | null
  status: string
  error_code: FailedAs | null
  error_message: string | null
  reservation_id: string | null
  claimed_at: NullableInstant
  called_at: NullableInstant
  may_have_left: Generated<boolean>
  attempts: Generated<number>
  next_try_at: NullableInstant
  provider_message_id: string | null
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface MessagingButtonsRow {
  store_id: StoreColumn
  id: string
  content: Json
  created_at: Instant
  updated_at: Instant
}

interface ChatAgentCodesRow {
  store_id: StoreColumn
  id: string
  user_id: string
  code_hash: string
  name: string
  phone_key: string | null
  created_at: Instant
  expires_at: Instant
  ended_at: NullableInstant
}

interface ChatAgentBindingsRow {
  store_id: StoreColumn
  phone_key: string
  phone: string
  name: string
  user_id: string
  paired_at: Instant
  last_used_at: NullableInstant
}

interface ChatAgentRequestsRow {
  store_id: StoreColumn
  inbound_id: string
  phone_key: string
  requested_at: Instant
}

interface ChatAgentRepliesRow {
  inbound_id: string
  id: string
  store_id: string | null
  phone: string
  text: string | null
  created_at: Instant
  sent_at: NullableInstant
}

interface ChatAgentStrangersRow {
  phone_key: string
  wrong_at: Generated<Date[]>
  silent_until: NullableInstant
  told_at: NullableInstant
}

interface SandboxTemplatesRow {
  store_id: string
  provider_id: string
  name: string
  language: string
  content: Json
  status: string
  reason: string | null
  quality: Generated<string>
  paused_until: NullableInstant
  version: Generated<number>
  next_event: string | null
  next_event_at: NullableInstant
}

export interface MessagingSendTables {
  message_template_names: MessageTemplateNamesRow
  message_template_creations: MessageTemplateCreationsRow
  message_template_syncs: MessageTemplateSyncsRow
  number_recipients: NumberRecipientsRow
  number_usage: NumberUsageRow
  direct_messages: DirectMessagesRow
  messaging_buttons: MessagingButtonsRow
  chat_agent_codes: ChatAgentCodesRow
  chat_agent_bindings: ChatAgentBindingsRow
  chat_agent_requests: ChatAgentRequestsRow
}

export interface MessagingSystemTables {
  chat_agent_replies: ChatAgentRepliesRow
  chat_agent_strangers: ChatAgentStrangersRow
  sandbox_templates: SandboxTemplatesRow
}

export const messagingSendTables: Record<keyof MessagingSendTables, 'store_id'> = {
  message_template_names: 'store_id',
  message_template_creations: 'store_id',
  message_template_syncs: 'store_id',
  number_recipients: 'store_id',
  number_usage: 'store_id',
  direct_messages: 'store_id',
  messaging_buttons: 'store_id',
  chat_agent_codes: 'store_id',
  chat_agent_bindings: 'store_id',
  chat_agent_requests: 'store_id',
}

export const messagingSystemTables: Record<keyof MessagingSystemTables, ServerPlacement> = {
  chat_agent_replies: 'coordinator',
  chat_agent_strangers: 'coordinator',
  sandbox_templates: 'coordinator',
}
