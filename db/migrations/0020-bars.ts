import { type Kysely, sql } from 'kysely'

/** Settings of the storefront's banners, and its alerts about real purchases. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table bar_settings (
    store_id uuid not null references stores on delete cascade, bar text not null, content jsonb not null,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, bar))`,

  `create table fomo_alerts (
    store_id uuid not null references stores on delete cascade, id uuid not null, alert_type text not null,
    content jsonb not null, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), constraint fomo_alerts_type unique (store_id, alert_type))`,

  // Purchases of a product, newest first.
  `create index order_items_product on order_items (store_id, product_id) include (order_id)`,
]
