import { type Kysely, sql } from 'kysely'

/** Sessions linked by QR code, official numbers with their setup and health, and the sandbox's tables of both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `session_…`, `end_reason`, `lost_at`: QR sessions only, with encrypted codes. `setup_id`: the last setup of an
  // official number.
  `alter table messaging_connections
    add column phone_key text, add column account_id text, add column display_name_status text,
    add column health jsonb, add column health_at timestamptz, add column setup_id uuid,
    add column session_ref text, add column session_codes text, add column session_started_at timestamptz,
    add column session_claimed_at timestamptz, add column session_ended_at timestamptz,
    add column end_reason text, add column lost_at timestamptz`,
  `create index messaging_connections_phone on messaging_connections (phone_key) where phone_key is not null`,
  `create index messaging_connections_account on messaging_connections (account_id) where account_id is not null`,
  `create index messaging_connections_number on messaging_connections (number_id) where number_id is not null`,
  `create unique index messaging_connections_session on messaging_connections (session_ref)`,

  // Setups of official numbers; the returned state is stored as its SHA-256.
  `create table messaging_setups (
    store_id uuid not null references stores on delete cascade, id uuid not null, state_hash text not null unique,
    return_url text not null, started_at timestamptz not null, expires_at timestamptz not null, claimed_at timestamptz,
    ended_at timestamptz, outcome text, primary key (store_id, id))`,
  // Pending releases at a provider: the row that had the credentials is gone.
  `create table messaging_releases (
    store_id uuid not null references stores on delete cascade, id uuid not null, kind text not null,
    provider text not null, credentials text, subject text, templates jsonb not null default '[]',
    created_at timestamptz not null, primary key (store_id, id))`,
  `create index messaging_releases_age on messaging_releases (created_at)`,
  `create index provider_events_messaging_age on provider_events (created_at) where port = 'messaging'`,

  // The last inbound message to a shared number per phone: its windows apply to all stores that use it.
  `create table shared_windows (
    number_id text not null, phone_key text not null, last_inbound_at timestamptz not null,
    primary key (number_id, phone_key))`,

  // The sandbox provider's numbers, codes and setups, and messages to its numbers.
  `create table sandbox_numbers (
    store_id uuid primary key, phone text not null, display_name text not null, token text not null,
    is_token_valid boolean not null default true, ready_at timestamptz, quality text, tier text,
    number_status text, name_status text not null default 'approved')`,
  `create table sandbox_qr_codes (
    payload text primary key, store_id uuid not null, session_ref text not null, sequence integer not null,
    lives_from timestamptz not null, lives_until timestamptz not null)`,
  `create index sandbox_qr_codes_session on sandbox_qr_codes (session_ref, sequence)`,
  `create table sandbox_qr_links (
    store_id uuid primary key, session_ref text not null, phone text, name text, is_linked boolean not null)`,
  `create table sandbox_setups (
    token text primary key, store_id uuid not null, state text not null, return_url text not null,
    ends_at timestamptz not null, code text unique, phone text, display_name text, outcome text)`,
  `create index sandbox_setups_store on sandbox_setups (store_id)`,
  `create table sandbox_inbounds (
    store_id uuid not null, id text not null, number_id text not null, content jsonb not null,
    at timestamptz not null, primary key (store_id, id))`,
  `create index sandbox_inbounds_time on sandbox_inbounds (store_id, at, id)`,
]
