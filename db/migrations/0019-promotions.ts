import { type Kysely, sql } from 'kysely'

/** Discounts at the platform's checkout, installments, and the settings of widgets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Promotions, bundles and gifts: shared fields as columns, fields of one kind as content.
  `create table discounts (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    kind text not null check (kind in ('promotion', 'bundle', 'gift')),
    name text not null, is_active boolean not null,
    starts_at timestamptz, ends_at timestamptz, content jsonb not null,
    revision integer not null default 1,
    sync_status text not null default 'none' check (sync_status in ('none', 'synced', 'failed', 'suspended')),
    sync_error text, synced_at timestamptz,
    usage_count integer not null default 0, discount_total numeric(14,2) not null default 0, currency text not null,
    impressions integer not null default 0, clicks integer not null default 0,
    cart_adds integer not null default 0, is_unavailable boolean not null default false,
    usage_limit integer generated always as ((content ->> 'usageLimit')::integer) stored,
    min_amount numeric(14,2) generated always as ((content ->> 'minAmount')::numeric) stored,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create unique index discounts_name on discounts (store_id, kind, lower(name))`,
  `create index discounts_newest on discounts (store_id, kind, id desc)`,

  // Pending pushes to the platform: at most one per discount.
  `create table discount_intents (
    store_id uuid not null references stores on delete cascade, discount_id uuid not null,
    kind text not null, token uuid not null, action text not null, name text,
    takes_place boolean not null, is_reserving boolean not null, wanted jsonb,
    revision integer not null, created_at timestamptz not null,
    primary key (store_id, discount_id))`,

  `create table installment_rules (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    name text not null, min_amount numeric(14,2) not null, max_amount numeric(14,2),
    max_installments integer not null, interest_free_installments integer not null,
    monthly_interest_rate numeric(7,4) not null, min_installment_amount numeric(14,2) not null,
    is_active boolean not null, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,

  `create table widget_settings (
    store_id uuid not null references stores on delete cascade, key text not null,
    content jsonb not null, updated_at timestamptz not null, primary key (store_id, key))`,
]
