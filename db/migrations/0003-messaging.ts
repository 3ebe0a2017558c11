import { type Kysely, sql } from 'kysely'

/** Sender numbers, approved templates, and their sandbox tables. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table messaging_connections (
    store_id uuid not null references stores on delete cascade,
    type text not null check (type in ('qr', 'official', 'shared')), status text not null,
    provider text not null default 'sandbox', credentials text, number_id text, phone text,
    display_name text, issue_code text, connected_at timestamptz, checked_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, type))`,
  // One row per number, not per store: several stores share a number, and its send rate is limited over all workers.
  `create table sender_numbers (
    id text primary key, next_at timestamptz not null, throttled_until timestamptz)`,
  `create sequence message_template_ids`,
  `create table message_templates (
    store_id uuid not null references stores on delete cascade,
    id integer not null default nextval('message_template_ids'), provider_id text, name text not null,
    language text not null, category text not null, header jsonb, body text not null, footer text,
    buttons jsonb not null default '[]', examples jsonb not null default '{}', status text not null,
    rejection_reason text, quality text not null default 'unknown', paused_until timestamptz,
    submitted_at timestamptz, reviewed_at timestamptz, synced_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, name, language))`,
  `create table contact_windows (
    store_id uuid not null references stores on delete cascade, phone_key text not null,
    last_inbound_at timestamptz not null, primary key (store_id, phone_key))`,

  // The sandbox provider's own records: sent messages, call counts, delivery stages.
  `create table sandbox_messages (
    id uuid primary key, store_id uuid not null, idempotency_key text not null unique,
    provider_message_id text not null unique, calls integer not null default 1, phone text not null,
    kind text not null, content jsonb not null, stage integer not null default 0, next_event_at timestamptz,
    sent_at timestamptz not null)`,
  `create index sandbox_messages_due on sandbox_messages (next_event_at) where next_event_at is not null`,
  `create index sandbox_messages_store on sandbox_messages (store_id, phone)`,
  `create table sandbox_modes (
    store_id uuid not null, port text not null, mode text not null, primary key (store_id, port))`,
  // Products, categories, customers, orders, carts, scripts and coupons of the sandbox's shops.
  `create table sandbox_objects (
    store_id uuid not null, kind text not null, id text not null, position bigint generated always as identity,
    data jsonb not null, updated_at timestamptz not null, primary key (store_id, kind, id))`,
  `create index sandbox_objects_walk on sandbox_objects (store_id, kind, position)`,
  `create index sandbox_objects_changes on sandbox_objects (store_id, kind, updated_at, id)`,
]
