import { type Kysely, sql } from 'kysely'

/**
 * Assistants connected by OAuth. The grant of each is a key of the store below another one (`parent_id`); its token is
 * replaced whenever the assistant renews it, and is valid until `token_expires_at`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table api_keys add column parent_id uuid`,
  `alter table api_keys add column token_expires_at timestamptz`,
  `create index api_keys_children on api_keys (store_id, parent_id) where parent_id is not null`,

  `create table oauth_clients (
    id text primary key, name text not null, redirect_uris jsonb not null,
    created_at timestamptz not null, used_at timestamptz)`,
  `create index oauth_clients_age on oauth_clients (coalesce(used_at, created_at))`,

  // Identified by a hash: only the client has the code itself.
  `create table oauth_codes (
    hash text primary key, client_id text not null, redirect_uri text not null, challenge text not null,
    name text not null, store_id uuid not null, parent_id uuid not null, scopes text[] not null,
    grant_ends_at timestamptz not null, expires_at timestamptz not null, used_at timestamptz, key_id uuid)`,
  `create index oauth_codes_age on oauth_codes (expires_at)`,

  // Identified by the constant half of a refresh token: an old other half was replaced already.
  `create table oauth_grants (
    family_hash text primary key, refresh_hash text not null, renewed_at timestamptz not null,
    client_id text not null, store_id uuid not null, key_id uuid not null unique,
    expires_at timestamptz not null, created_at timestamptz not null)`,
  `create index oauth_grants_age on oauth_grants (expires_at)`,
]
