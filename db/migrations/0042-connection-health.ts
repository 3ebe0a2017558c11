import { type Kysely, sql } from 'kysely'

/** The health of connections to providers: a store's, and the server's own. A row exists after the first failure. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const columns = `
  state text not null check (state in ('connected', 'degraded', 'lost')),
  since timestamptz not null,
  code text,
  message text,
  remedy text,
  failed_at jsonb not null default '[]',
  troubled_at timestamptz not null,
  checked_at timestamptz not null,
  is_told boolean not null default false,
  told_at timestamptz,
  told_code text,
  probes integer not null default 0,
  next_probe_at timestamptz,
  updated_at timestamptz not null`

const statements = [
  `create table connection_health (
    store_id uuid not null references stores (id) on delete cascade,
    port text not null,
    part text not null default '',
    provider text not null,
    connected_at timestamptz,
    ${columns},
    primary key (store_id, port, part)
  )`,
  `create table provider_health (
    port text not null,
    provider text not null,
    ${columns},
    primary key (port, provider)
  )`,
]
