import { type Kysely, sql } from 'kysely'

/** Looks, size guides, and the wishlists of shoppers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table looks (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    name text not null, content jsonb not null, is_active boolean not null,
    health text not null check (health in ('healthy', 'degraded', 'broken')), checked_at timestamptz not null,
    impressions integer not null default 0, clicks integer not null default 0,
    cart_adds integer not null default 0,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,

  `create table size_guides (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    name text not null, content jsonb not null, is_active boolean not null,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,

  `create table wishlist_visitors (
    store_id uuid not null references stores on delete cascade, visitor_id text not null,
    email text, phone text, phone_key text, name text, consent boolean not null,
    contact_key text generated always as (coalesce(lower(email), phone_key)) stored,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, visitor_id), check (email is not null or phone_key is not null))`,
  `create index wishlist_visitors_contact on wishlist_visitors (store_id, contact_key)`,
  `create index wishlist_visitors_email on wishlist_visitors (store_id, lower(email))`,
  `create index wishlist_visitors_phone on wishlist_visitors (store_id, phone_key)`,

  // One row per addition; it is in the list until it is removed.
  `create table wishes (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    visitor_id text not null, product_id text not null, variant_id text not null default '',
    added_at timestamptz not null, removed_at timestamptz, primary key (store_id, id))`,
  `create unique index wishes_open on wishes (store_id, visitor_id, product_id, variant_id)
    where removed_at is null`,
  `create index wishes_visitor on wishes (store_id, visitor_id, added_at) include (product_id)`,
  `create index wishes_added on wishes (store_id, added_at) include (visitor_id, product_id)`,
  `create index wishes_removed on wishes (store_id, removed_at) include (product_id) where removed_at is not null`,

  `create table wishlist_cart_days (
    store_id uuid not null references stores on delete cascade, day date not null,
    product_id text not null, cart_adds integer not null default 0, primary key (store_id, day, product_id))`,
]
