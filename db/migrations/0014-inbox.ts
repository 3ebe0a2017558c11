import { type Kysely, sql } from 'kysely'

/** People who write to a store, their conversations and messages, and the team's work on them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create extension if not exists pg_trgm`,
  `create extension if not exists btree_gin`,

  `create table inbox_settings (
    store_id uuid primary key references stores on delete cascade, is_enabled boolean not null default false,
    enabled_at timestamptz, last_inbound_at timestamptz,
    is_cut_off boolean not null default false, tier_settings jsonb,
    tier_settings_updated_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null)`,

  // The last run of each job that walks all rows: its progress is saved with each page.
  `create table inbox_runs (
    store_id uuid not null references stores on delete cascade, kind text not null,
    status text not null default 'idle', days integer, walked_to text, is_asked_again boolean not null default false,
    asked_by uuid, night date, started_at timestamptz, finished_at timestamptz,
    processed integer not null default 0, changed integer not null default 0, error text,
    primary key (store_id, kind))`,

  // One row per person, by the phone's comparison form; `phone` is the address that the provider last named.
  `create table contacts (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    phone text not null, phone_key text not null, given_name text, profile_name text, order_name text,
    search_text text not null default '',
    tier text, tier_source text not null default 'automatic',
    purchase_count integer not null default 0, total_spent numeric(14,2) not null default 0,
    last_purchase_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, phone_key))`,
  `create index contacts_search on contacts using gin (store_id, search_text gin_trgm_ops, phone gin_trgm_ops)`,
  // Columns that the list shows and filters by: it reads no messages.
  `create table conversations (
    store_id uuid not null, id uuid not null, contact_id uuid not null,
    status text not null default 'open', unread_count integer not null default 0, pinned_at timestamptz,
    is_pinned boolean not null generated always as (pinned_at is not null) stored,
    assignee_id uuid, assignee_name text, tier text,
    last_message_id uuid, last_message_at timestamptz not null, last_message_direction text,
    last_message_type text, last_message_status text, last_message_preview text,
    last_inbound_at timestamptz, waiting_since timestamptz, message_count integer not null default 0,
    closed_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, contact_id),
    foreign key (store_id, contact_id) references contacts on delete cascade)`,
  `create index conversations_list on conversations (store_id, is_pinned desc, last_message_at desc, id desc)`,
  `create index conversations_updated on conversations (store_id, updated_at)`,
  `create index conversations_assignee on conversations (store_id, assignee_id, status)`,

  `create table inbox_messages (
    store_id uuid not null, id uuid not null, conversation_id uuid not null, client_id text,
    direction text not null, source text not null, type text not null, text text,
    media jsonb, content jsonb, officialapi_template_id integer, template_parameters jsonb,
    reply_to_message_id uuid, quick_reply_id uuid, status text not null,
    error_code text, error_message text, provider_message_id text,
    sent_by uuid, sent_by_name text, request_hash text, reservation_id uuid,
    claimed_at timestamptz, attempts integer not null default 0, not_before timestamptz,
    occurred_at timestamptz not null, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz,
    failed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    foreign key (store_id, conversation_id) references conversations on delete cascade)`,
  `create unique index inbox_messages_provider on inbox_messages (store_id, provider_message_id)
    where provider_message_id is not null`,
  `create unique index inbox_messages_client on inbox_messages (store_id, conversation_id, client_id)
    where client_id is not null`,
  `create index inbox_messages_list on inbox_messages (store_id, conversation_id, occurred_at desc, id desc)`,
  `create index inbox_messages_queued on inbox_messages (store_id, conversation_id, created_at, id)
    where status = 'queued'`,
  `create index inbox_messages_waiting on inbox_messages (created_at) where status = 'queued'`,
  // Searches for several words use those of messages, for one word those of conversations. Narrow rows: a search for
  // two common words reads tens of thousands.
  `create table inbox_message_words (
    store_id uuid not null, conversation_id uuid not null, message_id uuid not null, words tsvector not null,
    primary key (store_id, conversation_id, message_id),
    foreign key (store_id, conversation_id) references conversations on delete cascade)`,
  `create index inbox_message_words_words on inbox_message_words using gin (store_id, words)`,
  `create table inbox_conversation_words (
    store_id uuid not null, word text collate "C" not null, conversation_id uuid not null,
    primary key (store_id, word, conversation_id),
    foreign key (store_id, conversation_id) references conversations on delete cascade)`,

  `create table inbox_tags (
    store_id uuid not null references stores on delete cascade, id uuid not null, name text not null,
    color text not null, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create unique index inbox_tags_name on inbox_tags (store_id, lower(name))`,
  `create table inbox_conversation_tags (
    store_id uuid not null, conversation_id uuid not null, tag_id uuid not null,
    created_at timestamptz not null, primary key (store_id, conversation_id, tag_id),
    foreign key (store_id, conversation_id) references conversations on delete cascade,
    foreign key (store_id, tag_id) references inbox_tags on delete cascade)`,
  `create index inbox_conversation_tags_tag on inbox_conversation_tags (store_id, tag_id)`,
  `create table inbox_notes (
    store_id uuid not null, id uuid not null, conversation_id uuid not null, text text not null,
    mentions uuid[] not null default '{}', author_id uuid not null, author_name text not null,
    created_at timestamptz not null, primary key (store_id, id),
    foreign key (store_id, conversation_id) references conversations on delete cascade)`,
  `create index inbox_notes_conversation on inbox_notes (store_id, conversation_id, id desc)`,
  `create table inbox_quick_replies (
    store_id uuid not null references stores on delete cascade, id uuid not null, shortcut text not null,
    title text not null, text text not null, media_url text, usage_count integer not null default 0,
    last_used_at timestamptz, created_by uuid, created_by_name text,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, shortcut))`,

  // Catches up messages from while the inbox was off.
  `create index provider_events_inbound on provider_events (store_id, occurred_at, id)
    where port = 'messaging' and kind in ('inbound', 'echo')`,
]
