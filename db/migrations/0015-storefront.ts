import { type Kysely, sql } from 'kysely'

/** The catalog cache, and events of shoppers' browsers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table product_snapshots (
    store_id uuid not null references stores on delete cascade, product_id text not null,
    name text not null, handle text not null, url text not null, image_url text, brand text,
    tags text[] not null default '{}', category_ids text[] not null default '{}',
    price numeric(14,2) not null, compare_at_price numeric(14,2), currency text not null, stock integer,
    is_published boolean not null, "exists" boolean not null default true,
    platform_created_at timestamptz not null, platform_updated_at timestamptz not null,
    digest text not null, checked_at timestamptz not null, primary key (store_id, product_id))`,

  // The state of a store's catalog cache: its revision, its connection, and its last full pass.
  `create table catalog_mirrors (
    store_id uuid primary key references stores on delete cascade, revision integer not null default 0,
    connected_at timestamptz, read_at timestamptz)`,

  `create table product_snapshot_variants (
    store_id uuid not null, product_id text not null, variant_id text not null,
    name text not null, sku text, image_url text,
    price numeric(14,2) not null, compare_at_price numeric(14,2), stock integer,
    is_available boolean not null, position integer not null,
    primary key (store_id, product_id, variant_id),
    foreign key (store_id, product_id) references product_snapshots on delete cascade)`,
  `create index product_snapshot_variants_variant on product_snapshot_variants (store_id, variant_id)`,

  `create table storefront_events (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    type text not null, widget text not null, resource_id text not null default '',
    product_id text, variant_id text, visitor_id text not null, device text,
    slot integer, happened_at timestamptz not null, primary key (store_id, id))`,
  // An impression counts once per visitor, resource and half hour.
  `create unique index storefront_events_slot on storefront_events (store_id, visitor_id, widget, resource_id, slot)
    where slot is not null`,
  `create index storefront_events_product on storefront_events (store_id, product_id, type, happened_at)
    include (visitor_id) where product_id is not null`,
  `create index storefront_events_age on storefront_events (happened_at)`,
  `create index storefront_events_newest on storefront_events (store_id, type, happened_at)`,

  // Daily counts of the widgets, in the store's zone.
  `create table widget_daily (
    store_id uuid not null references stores on delete cascade, widget text not null,
    resource_id text not null default '', day date not null,
    impressions integer not null default 0, clicks integer not null default 0,
    closes integer not null default 0, cart_adds integer not null default 0,
    visitors integer not null default 0,
    primary key (store_id, widget, resource_id, day))`,

  // Whether the loader is installed at the platform: one row per store.
  `create table storefront_scripts (
    store_id uuid primary key references stores on delete cascade, state text not null default 'none',
    message text, script_id text, installed_at timestamptz, last_seen_at timestamptz, updated_at timestamptz not null)`,
]
