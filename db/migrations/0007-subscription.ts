import { type Kysely, sql } from 'kysely'

/** Payments, checkouts, and requests to the provider, which are recorded before they are sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // agreement_amount: the next charge, as last sent to the provider. agreement_changed_at: the newest applied event.
  // period_cost: the cost of the whole current period after coupon, the base of every credit.
  `alter table subscriptions add column agreement_id text, add column agreement_cycle text,
    add column agreement_amount numeric(14,2), add column agreement_since timestamptz,
    add column agreement_changed_at timestamptz, add column period_cost numeric(14,2),
    add column cancel_comment text`,
  `create table payments (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    provider text not null, provider_payment_id text not null, agreement_id text, checkout_id uuid,
    status text not null, kind text not null, amount numeric(14,2) not null,
    discount numeric(14,2) not null default 0, credit_applied numeric(14,2) not null default 0,
    currency text not null, plan_id text not null, billing_cycle text not null,
    period_start timestamptz, period_end timestamptz, attempt integer not null default 1,
    failure_reason text, payment_method jsonb, receipt_url text, paid_at timestamptz,
    provider_updated_at timestamptz not null,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (provider, provider_payment_id))`,
  `create index payments_made on payments (store_id, created_at, id)`,
  // creating: the provider was asked for the page; its address is not known yet.
  `create table checkouts (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    kind text not null, status text not null, provider text not null, provider_checkout_id text, url text,
    plan_id text not null, billing_cycle text not null, amount numeric(14,2) not null,
    currency text not null, coupon_code text, terms jsonb, failure_reason text,
    expires_at timestamptz not null, completed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index checkouts_open on checkouts (store_id) where status = 'open'`,
  `create index checkouts_made on checkouts (store_id, created_at, id)`,
  `create index checkouts_expiry on checkouts (expires_at) where status = 'open'`,
  `create table billing_intents (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    kind text not null, key text not null, status text not null default 'open', provider text not null,
    agreement_id text not null, terms jsonb not null, held_until timestamptz not null, failure text,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, key))`,
  // Requests of the merchant are serialized: of two concurrent ones, one is refused.
  `create unique index billing_intents_asked on billing_intents (store_id)
    where status = 'open' and kind in ('cancel', 'charge', 'schedule')`,
  `create index billing_intents_open on billing_intents (store_id, created_at) where status = 'open'`,
  `create table coupon_redemptions (
    store_id uuid not null references stores on delete cascade, code text not null,
    redeemed_at timestamptz not null, primary key (store_id, code))`,
  // The cycle that a message counted in; null for emails and older messages.
  `alter table message_ledger add column cycle_starts_at timestamptz`,
]
