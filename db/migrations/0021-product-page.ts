import { type Kysely, sql } from 'kysely'

/** Content blocks, stickers, badges and videos of product pages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // At most 100 per store: the order is kept without gaps under the store's lock.
  `create table content_blocks (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    name text not null, type text not null, design jsonb not null, content jsonb not null,
    starts_at timestamptz, ends_at timestamptz, is_active boolean not null,
    priority integer not null check (priority > 0),
    impressions integer not null default 0, clicks integer not null default 0,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,

  `create table product_labels (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    kind text not null check (kind in ('sticker', 'badge')), name text not null, content jsonb not null,
    starts_at timestamptz, ends_at timestamptz, is_active boolean not null, priority integer not null,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,

  `create table video_sliders (
    store_id uuid not null references stores on delete cascade, id uuid not null, product_id text not null,
    content jsonb not null, is_active boolean not null,
    impressions integer not null default 0, clicks integer not null default 0,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), constraint video_sliders_product unique (store_id, product_id))`,

  `create table home_video_sliders (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    is_enabled boolean not null, impressions integer not null default 0, clicks integer not null default 0,
    updated_at timestamptz not null)`,
]
