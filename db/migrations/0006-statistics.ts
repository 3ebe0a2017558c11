import { type Kysely, sql } from 'kysely'

/** Daily sums by the store's zone, and the indexes of its statistics. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // The time zone of the sums; while they are rebuilt, the day reached so far.
  `create table conversion_zones (
    store_id uuid not null references stores on delete cascade, timezone text not null,
    built_before date, created_at timestamptz not null, primary key (store_id, timezone))`,
  `create table conversion_days (
    store_id uuid not null references stores on delete cascade, timezone text not null, day date not null,
    source_type text not null, currency text not null, orders integer not null,
    revenue numeric(16,2) not null, carts integer not null default 0,
    primary key (store_id, timezone, day, source_type, currency))`,
  `create table conversion_product_days (
    store_id uuid not null references stores on delete cascade, timezone text not null, day date not null,
    source_type text not null, currency text not null, product_id text not null, orders integer not null,
    units integer not null, revenue numeric(16,2) not null,
    primary key (store_id, timezone, day, source_type, currency, product_id))`,
  // Name and picture as last seen.
  `create table conversion_products (
    store_id uuid not null references stores on delete cascade, product_id text not null, name text not null,
    image_url text, seen_at timestamptz not null, primary key (store_id, product_id))`,
  `create table activity_days (
    store_id uuid not null references stores on delete cascade, timezone text not null, day date not null,
    kind text not null, currency text not null, n integer not null, amount numeric(16,2) not null,
    converted integer not null, primary key (store_id, timezone, kind, day, currency))`,

  `alter table conversion_items add column refunded_quantity integer not null default 0`,
  `alter table attribution_touches add column conversions integer not null default 0`,
  `create index conversions_by_source on conversions (store_id, source_type, placed_at desc, id desc)`,
  `drop index conversions_placed`,
  `create index conversions_placed on conversions (store_id, placed_at desc, id desc)`,
  `drop index orders_placed`,
  `create index orders_placed on orders (store_id, placed_at desc, id desc)`,
  `drop index message_ledger_sent`,
  `create index message_ledger_sent on message_ledger (store_id, sent_at) include (channel, source, status)`,
]
