import { type Kysely, sql } from 'kysely'

/** Stores, people, keys, subscriptions, bookkeeping of jobs: the base of every section. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Ids created in bulk by SQL sort by time like those of JavaScript.
  `create function uuid_v7(at timestamptz) returns uuid language sql volatile parallel safe as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
      || '7' || substr(r, 14, 3) || substr(r, 17, 16))::uuid
    from (select replace(gen_random_uuid()::text, '-', '') as r) as random $$`,
  // The text form of an instant: ISO 8601, UTC, milliseconds. STABLE like to_char and not STRICT, so that the planner
  // can inline it: a call would cost three times as much.
  `create function iso(at timestamptz) returns text language sql stable parallel safe as $$
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$`,

  `create table server_settings (name text primary key, value jsonb not null)`,
  `create unlogged table rate_counters (
    key text primary key, started_at timestamptz not null, used integer not null)`,
  `create table job_schedules (name text primary key, next_at timestamptz not null)`,

  `create table agencies (
    id uuid primary key, name text not null unique, branding jsonb not null default '{}',
    created_at timestamptz not null, updated_at timestamptz not null)`,
  `create table users (
    id uuid primary key, name text not null, email text not null,
    created_at timestamptz not null, updated_at timestamptz not null)`,
  `create unique index users_email on users (lower(email))`,

  `create table stores (
    id uuid primary key, slug text not null unique, public_id text not null unique,
    name text not null, domain text not null unique,
    platform text not null default 'sandbox', platform_store_id text,
    email text, phone text, country text not null, currency text not null, timezone text not null,
    locale text not null default 'pt-BR', logo_url text, agency_id uuid references agencies,
    messaging_connection_type text, attribution jsonb not null default '{}',
    preferences jsonb not null default '{}', storefront_revision integer not null default 1,
    onboarding jsonb not null default '{}', onboarding_completed_at timestamptz,
    joined_at timestamptz not null, created_at timestamptz not null, updated_at timestamptz not null)`,

  `create table memberships (
    store_id uuid not null references stores on delete cascade, user_id uuid not null references users,
    role text not null check (role in ('owner', 'member', 'agent')),
    joined_at timestamptz not null, removed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, user_id))`,
  `create table invitations (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    email text not null, role text not null,
    status text not null default 'pending', token_hash text not null unique, invited_by uuid not null,
    accepted_at timestamptz, expires_at timestamptz not null,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create index invitations_email on invitations (store_id, lower(email)) where status = 'pending'`,
  `create table api_keys (
    store_id uuid not null references stores on delete cascade, id uuid not null, user_id uuid not null,
    name text not null, hash text not null unique, prefix text not null, scopes text[] not null,
    environment text not null default 'live', expires_at timestamptz, revoked_at timestamptz,
    revoked_reason text, last_used_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create index api_keys_member on api_keys (store_id, user_id)`,

  `create view store_people as
    select m.store_id, u.id as user_id, u.name, u.email, m.role, m.joined_at, m.removed_at,
      m.created_at, m.updated_at
    from memberships m join users u on u.id = m.user_id`,
  `create view store_agencies as
    select s.id as store_id, a.name, a.branding from stores s join agencies a on a.id = s.agency_id`,

  `create table connections (
    store_id uuid not null references stores on delete cascade, port text not null,
    provider text not null, credentials text, settings jsonb not null default '{}',
    connected_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, port))`,

  `create table subscriptions (
    store_id uuid primary key references stores on delete cascade, id uuid not null,
    plan_id text not null, status text not null,
    billing_cycle text, price numeric(14,2), currency text, provider text,
    anchor_at timestamptz not null,
    current_period_start timestamptz not null, current_period_end timestamptz not null,
    next_charge_at timestamptz, next_charge_amount numeric(14,2),
    trial_ends_at timestamptz, grace_ends_at timestamptz, cancelled_at timestamptz, ends_at timestamptz,
    paused_at timestamptz, cancel_reason text, pause_reason text, scheduled_change jsonb, coupon jsonb,
    credit_balance numeric(14,2) not null default 0, payment_method jsonb,
    created_at timestamptz not null, updated_at timestamptz not null)`,

  `create table usage_cycles (
    store_id uuid not null references stores on delete cascade, starts_at timestamptz not null,
    ends_at timestamptz not null, message_limit integer not null,
    used integer not null default 0, reserved integer not null default 0,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, starts_at), check (used >= 0), check (reserved >= 0))`,
  `create table usage_reservations (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    cycle_starts_at timestamptz not null, source text not null, units integer not null,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), check (units >= 0))`,
  `create table message_ledger (
    store_id uuid not null references stores on delete cascade, message_id uuid not null,
    channel text not null, source text not null, source_id text, phone_key text, email text,
    provider_message_id text, status text not null, failure_code text,
    sent_at timestamptz not null, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz,
    primary key (store_id, message_id))`,
  `create index message_ledger_sent on message_ledger (store_id, sent_at)`,

  `create table orders (
    store_id uuid not null references stores on delete cascade, id text not null, number text not null,
    status text not null, payment_status text not null, fulfillment_status text not null,
    currency text not null, subtotal numeric(14,2) not null, discount numeric(14,2) not null default 0,
    shipping numeric(14,2) not null default 0, total numeric(14,2) not null,
    refunded_total numeric(14,2) not null default 0, coupon_codes text[] not null default '{}',
    customer_id text, customer_name text, customer_email text, customer_phone text, phone_key text,
    payment_method text, payment_url text, status_url text, cart_id text, tracking_code text,
    tracking_url text, shipping_address jsonb, click_token text,
    placed_at timestamptz not null, paid_at timestamptz, shipped_at timestamptz,
    delivered_at timestamptz, cancelled_at timestamptz, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create index orders_placed on orders (store_id, placed_at)`,
  `create index orders_phone on orders (store_id, phone_key)`,
  `create table order_items (
    store_id uuid not null references stores on delete cascade, order_id text not null, id text not null,
    position integer not null, product_id text, variant_id text, name text not null, sku text,
    image_url text, quantity integer not null, unit_price numeric(14,2) not null,
    total numeric(14,2) not null, refunded_quantity integer not null default 0,
    refunded_total numeric(14,2) not null default 0,
    primary key (store_id, order_id, id),
    foreign key (store_id, order_id) references orders on delete cascade)`,
  `create table attribution_touches (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    source_type text not null, source_id text not null, source_name text, automation_type text,
    channel text not null, message_id text, phone_key text, email text, coupon_code text,
    click_token text, product_id text, touched_at timestamptz not null, voided_at timestamptz,
    primary key (store_id, id))`,
  `create unique index attribution_touches_message on attribution_touches (store_id, message_id)
    where message_id is not null`,
  `create index attribution_touches_phone on attribution_touches (store_id, phone_key, touched_at)`,
  `create index attribution_touches_email on attribution_touches (store_id, email, touched_at)`,
  `create table conversions (
    store_id uuid not null references stores on delete cascade, id uuid not null, order_id text not null,
    order_number text not null, status text not null, source_type text not null, source_id text not null,
    source_name text, automation_type text, channel text not null, message_id text, touch_id uuid,
    customer jsonb not null, currency text not null, order_total numeric(14,2) not null,
    refunded_total numeric(14,2) not null, revenue numeric(14,2) not null, coupon_code text,
    touched_at timestamptz not null, placed_at timestamptz not null, paid_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, order_id))`,
  `create index conversions_placed on conversions (store_id, placed_at)`,
  `create index conversions_source on conversions (store_id, source_type, source_id)`,
  `create table conversion_items (
    store_id uuid not null references stores on delete cascade, conversion_id uuid not null,
    position integer not null, product_id text, variant_id text, name text not null, sku text,
    image_url text, quantity integer not null, unit_price numeric(14,2) not null,
    total numeric(14,2) not null, refunded_total numeric(14,2) not null default 0,
    primary key (store_id, conversion_id, position),
    foreign key (store_id, conversion_id) references conversions on delete cascade)`,

  `create table notifications (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    type text not null default 'custom', level text not null default 'info', title text not null,
    message text, link text, data jsonb, source text not null default 'system', created_by uuid,
    recipient_ids uuid[], dedupe_key text,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, dedupe_key))`,
  `create table notification_reads (
    store_id uuid not null references stores on delete cascade, notification_id uuid not null,
    user_id uuid not null, read_at timestamptz not null,
    primary key (store_id, notification_id, user_id),
    foreign key (store_id, notification_id) references notifications on delete cascade)`,

  `create table files (
    store_id uuid not null references stores on delete cascade, id uuid not null, purpose text not null,
    key text not null, url text not null, file_name text, content_type text not null,
    size bigint not null, visibility text not null, uploaded_at timestamptz, expires_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, key))`,
  `create table file_uses (
    store_id uuid not null references stores on delete cascade, file_id uuid not null, owner text not null,
    created_at timestamptz not null, primary key (store_id, file_id, owner),
    foreign key (store_id, file_id) references files on delete cascade)`,

  `create table exports (
    store_id uuid not null references stores on delete cascade, id uuid not null, name text not null,
    user_id uuid not null, email text not null, query jsonb not null, query_hash text not null,
    status text not null default 'queued', rows integer, failure_reason text, finished_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index exports_live on exports (store_id, user_id, name, query_hash)
    where status in ('queued', 'running')`,

  `create table provider_events (
    id uuid primary key, store_id uuid, port text not null, provider text not null, key text not null,
    kind text not null, payload jsonb not null, occurred_at timestamptz not null,
    applied_at timestamptz, attempts integer not null default 0, failure text,
    created_at timestamptz not null, unique (port, provider, key))`,
  `create index provider_events_open on provider_events (id) where applied_at is null`,

  `create table idempotency_keys (
    store_id uuid not null references stores on delete cascade, key text not null,
    request_hash text not null, status integer, body text, headers jsonb,
    claimed_at timestamptz not null, created_at timestamptz not null, primary key (store_id, key))`,
  `create index idempotency_keys_age on idempotency_keys (created_at)`,
]
