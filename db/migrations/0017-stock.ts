import { type Kysely, sql } from 'kysely'

/** Back-in-stock subscriptions, the batch rollout of their alerts, and the stock counter. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // `content` and `updated_at` are null until the settings are saved: a stock event may come before.
  `create table stock_alert_settings (
    store_id uuid primary key references stores on delete cascade, is_enabled boolean not null default false,
    content jsonb, webhook_registered_at timestamptz, webhook_connection_at timestamptz,
    last_stock_event_at timestamptz, updated_at timestamptz)`,

  `create table stock_counter_settings (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    updated_at timestamptz not null)`,

  `create table stock_subscriptions (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    product_id text not null, variant_id text not null, product_name text not null, variant_name text,
    sku text, product_url text, product_image_url text,
    channel text not null, email text, phone text, contact_key text, name text, source text not null,
    status text not null, reason text, click_token text not null, attempt integer not null default 1,
    claim_id uuid, claimed_at timestamptz, called_at timestamptz, reservation_id uuid,
    provider_message_id text, sent_at timestamptz, delivered_at timestamptz, failed_at timestamptz,
    converted_at timestamptz, converted_order_id text, revenue numeric(14,2), currency text,
    deleted_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create unique index stock_subscriptions_open on stock_subscriptions (store_id, variant_id, channel, contact_key)
    where status in ('waiting', 'sending') and deleted_at is null`,
  // The order of the rollout.
  `create index stock_subscriptions_waiting on stock_subscriptions (store_id, variant_id, created_at, id)
    where status = 'waiting' and deleted_at is null`,
  `create index stock_subscriptions_sending on stock_subscriptions (store_id, variant_id, claimed_at)
    where status = 'sending'`,
  `create index stock_subscriptions_claim on stock_subscriptions (store_id, claim_id) where claim_id is not null`,
  `create index stock_subscriptions_status on stock_subscriptions (store_id, status, created_at, id)
    where deleted_at is null`,
  `create index stock_subscriptions_newest on stock_subscriptions (store_id, created_at, id)
    where deleted_at is null`,
  `create index stock_subscriptions_created on stock_subscriptions (store_id, created_at) include (channel)`,
  `create index stock_subscriptions_product on stock_subscriptions (store_id, product_id, status)
    where deleted_at is null`,
  `create index stock_subscriptions_contact on stock_subscriptions (store_id, channel, contact_key)
    where status = 'waiting' and deleted_at is null`,
  `create index stock_subscriptions_sent on stock_subscriptions (store_id, sent_at) include (channel, converted_at)
    where sent_at is not null`,
  `create index stock_subscriptions_failed on stock_subscriptions (store_id, failed_at) where status = 'failed'`,
  `create index stock_subscriptions_search on stock_subscriptions using gin (store_id, lower(email) gin_trgm_ops,
    lower(name) gin_trgm_ops, lower(product_name) gin_trgm_ops, phone gin_trgm_ops) where deleted_at is null`,

  // One row per variant, locked by the rollout. `places`: how many more alerts may be sent, null for all.
  `create table stock_waves (
    store_id uuid not null references stores on delete cascade, variant_id text not null,
    is_open boolean not null default false, places integer, started_at timestamptz, ended_at timestamptz,
    primary key (store_id, variant_id))`,
]
