/** Contacts, conversations, their messages, and the team's tags, notes and quick replies. */
import type { Generated } from 'kysely'
import type {
  DefaultNumeric,
  FailedAs,
  Instant,
  NullableInstant,
  NullableJson,
  StoreColumn,
} from './columns.ts'

interface InboxSettingsRow {
  store_id: StoreColumn
  is_enabled: Generated<boolean>
  enabled_at: NullableInstant
  last_inbound_at: NullableInstant
  is_cut_off: Generated<boolean>
  tier_settings: NullableJson
  tier_settings_updated_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface InboxRunsRow {
  store_id: StoreColumn
  kind: string
  status: Generated<string>
  days: number | null
  walked_to: string | null
  is_asked_again: Generated<boolean>
  asked_by: string | null
  night: string | null
  started_at: NullableInstant
  finished_at: NullableInstant
  processed: Generated<number>
  changed: Generated<number>
  error: string | null
}

interface ContactsRow {
  store_id: StoreColumn
  id: string
  phone: string
  phone_key: string
  given_name: string | null
  profile_name: string | null
  order_name: string | null
  search_text: Generated<string>
  tier: string | null
  tier_source: Generated<string>
  purchase_count: Generated<number>
  total_spent: DefaultNumeric
  last_purchase_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ConversationsRow {
  store_id: StoreColumn
  id: string
  contact_id: string
  status: Generated<string>
  unread_count: Generated<number>
  pinned_at: NullableInstant
  is_pinned: Generated<boolean>
  assignee_id: string | null
  assignee_name: string | null
  /** A copy of the contact's tier. */
  tier: string | null
  last_message_id: string | null
  last_message_at: Instant
  last_message_direction: string | null
  last_message_type: string | null
  last_message_status: string | null
  last_message_preview: string | null
  last_inbound_at: NullableInstant
  waiting_since: NullableInstant
  message_count: Generated<number>
  closed_at: NullableInstant
  /** When the conversation was last closed: earlier messages need no reply. */
  settled_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface InboxMessagesRow {
  store_id: StoreColumn
  id: string
  conversation_id: string
  client_id: string | null
  direction: string
  source: string
  type: string
  text: string | null
  media: NullableJson
  content: NullableJson
  officialapi_template_id: number | null
  template_parameters: NullableJson
  reply_to_message_id: string | null
  quick_reply_id: string | null
  status: string
  error_code: FailedAs | null
  error_message: string | null
  provider_message_id: string | null
  sent_by: string | null
  sent_by_name: string | null
  request_hash: string | null
  reservation_id: string | null
  claimed_at: NullableInstant
  attempts: Generated<number>
  not_before: NullableInstant
  occurred_at: Instant
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface InboxMessageWordsRow {
  store_id: StoreColumn
  conversation_id: string
  message_id: string
  words: string
}

interface InboxConversationWordsRow {
  store_id: StoreColumn
  word: string
  conversation_id: string
}

interface InboxTagsRow {
  store_id: StoreColumn
  id: string
  name: string
  color: string
  created_at: Instant
  updated_at: Instant
}

interface InboxConversationTagsRow {
  store_id: StoreColumn
  conversation_id: string
  tag_id: string
  created_at: Instant
}

interface InboxNotesRow {
  store_id: StoreColumn
  id: string
  conversation_id: string
  text: string
  mentions: Generated<string[]>
  author_id: string
  author_name: string
  created_at: Instant
}

interface InboxQuickRepliesRow {
  store_id: StoreColumn
  id: string
  shortcut: string
  title: string
  text: string
  media_url: string | null
  usage_count: Generated<number>
  last_used_at: NullableInstant
  created_by: string | null
  created_by_name: string | null
  created_at: Instant
  updated_at: Instant
}

export interface InboxTables {
  inbox_settings: InboxSettingsRow
  inbox_runs: InboxRunsRow
  contacts: ContactsRow
  conversations: ConversationsRow
  inbox_messages: InboxMessagesRow
  inbox_message_words: InboxMessageWordsRow
  inbox_conversation_words: InboxConversationWordsRow
  inbox_tags: InboxTagsRow
  inbox_conversation_tags: InboxConversationTagsRow
  inbox_notes: InboxNotesRow
  inbox_quick_replies: InboxQuickRepliesRow
}

export const inboxTables: Record<keyof InboxTables, 'store_id'> = {
  inbox_settings: 'store_id',
  inbox_runs: 'store_id',
  contacts: 'store_id',
  conversations: 'store_id',
  inbox_messages: 'store_id',
  inbox_message_words: 'store_id',
  inbox_conversation_words: 'store_id',
  inbox_tags: 'store_id',
  inbox_conversation_tags: 'store_id',
  inbox_notes: 'store_id',
  inbox_quick_replies: 'store_id',
}
