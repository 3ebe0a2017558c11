import { type Kysely, sql } from 'kysely'

/** Templates under review, the number's daily limit, direct messages, the chat button, the assistant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `submission` counts submissions; `status_at`: the provider's time of the last status.
  `alter table message_templates
    add column placeholders jsonb not null default '{"header":0,"body":0,"buttons":0}',
    add column submission integer not null default 1, add column was_approved boolean not null default false,
    add column edited_at timestamptz[] not null default '{}', add column next_edit_at timestamptz,
    add column status_at timestamptz`,
  `create unique index message_templates_provider on message_templates (provider_id)`,
  `create index message_templates_status on message_templates (store_id, status, id)`,
  // Names of deleted templates that were approved once.
  `create table message_template_names (
    store_id uuid not null references stores on delete cascade, name text not null, language text not null,
    free_at timestamptz not null, primary key (store_id, name, language))`,
  // Each submission of a new template, recorded before the provider is called; open until it has answered.
  `create table message_template_creations (
    store_id uuid not null references stores on delete cascade, id uuid not null, created_at timestamptz not null,
    is_open boolean not null, primary key (store_id, id))`,
  `create table message_template_syncs (
    store_id uuid primary key references stores on delete cascade, started_at timestamptz not null,
    is_running boolean not null)`,

  // Phones that got a template with the window closed, and how many of them count against the number's limit.
  // `recipient` is number and phone in one: as separate columns, a planner without statistics would search a phone by
  // age.
  `create table number_recipients (
    store_id uuid not null references stores on delete cascade, recipient text not null, number_id text not null,
    counted_at timestamptz not null, before_at timestamptz, primary key (store_id, recipient))`,
  `create index number_recipients_age on number_recipients (store_id, number_id, counted_at)`,
  `create table number_usage (
    store_id uuid not null references stores on delete cascade, number_id text not null, used integer not null,
    at_most integer, primary key (store_id, number_id))`,

  // `request_key`: from the Idempotency-Key, so that a repeated request finds the row after a crash.
  `create table direct_messages (
    store_id uuid not null references stores on delete cascade, id uuid not null, request_key text,
    purpose text not null, source_id text, phone text not null, phone_key text not null, name text,
    type text not null, text text, media_url text, media_file_name text,
    officialapi_template_id integer, template_parameters jsonb, via text, connection_type text not null, sent_by uuid,
    status text not null, error_code text, error_message text, reservation_id uuid,
    claimed_at timestamptz, called_at timestamptz, may_have_left boolean not null default false,
    attempts integer not null default 0, next_try_at timestamptz, provider_message_id text,
    sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, request_key))`,
  `create index direct_messages_queued on direct_messages (created_at) where status = 'queued'`,

  `create table messaging_buttons (
    store_id uuid primary key references stores on delete cascade, id uuid not null unique,
    content jsonb not null, created_at timestamptz not null, updated_at timestamptz not null)`,

  // Only the SHA-256 of a code is stored.
  `create table chat_agent_codes (
    store_id uuid not null references stores on delete cascade, id uuid not null, user_id uuid not null,
    code_hash text not null unique, name text not null, phone_key text,
    created_at timestamptz not null, expires_at timestamptz not null, ended_at timestamptz,
    primary key (store_id, id))`,
  `create index chat_agent_codes_member on chat_agent_codes (store_id, user_id)`,
  `create table chat_agent_bindings (
    store_id uuid not null references stores on delete cascade, phone_key text not null unique,
    phone text not null, name text not null, user_id uuid not null, paired_at timestamptz not null,
    last_used_at timestamptz, primary key (store_id, phone_key))`,
  `create table chat_agent_requests (
    store_id uuid not null references stores on delete cascade, inbound_id text not null,
    phone_key text not null, requested_at timestamptz not null, primary key (store_id, inbound_id))`,
  `create index chat_agent_requests_time on chat_agent_requests (store_id, requested_at)`,
  // The assistant's answers, sent or pending; one per inbound message.
  `create table chat_agent_replies (
    inbound_id text primary key, id uuid not null unique, store_id uuid, phone text not null, text text,
    created_at timestamptz not null, sent_at timestamptz)`,
  `create index chat_agent_replies_age on chat_agent_replies (created_at)`,
  // Unpaired phones: their wrong codes, and the last time they got pairing instructions.
  `create table chat_agent_strangers (
    phone_key text primary key, wrong_at timestamptz[] not null default '{}', silent_until timestamptz,
    told_at timestamptz)`,

  // The sandbox provider's templates.
  `create table sandbox_templates (
    store_id uuid not null, provider_id text primary key, name text not null, language text not null,
    content jsonb not null, status text not null, reason text, quality text not null default 'unknown',
    paused_until timestamptz, version integer not null default 1, next_event text, next_event_at timestamptz,
    unique (store_id, name, language))`,
  `create index sandbox_templates_due on sandbox_templates (next_event_at) where next_event_at is not null`,
]
