import { type Kysely, sql } from 'kysely'

/** The sandbox's billing provider: its own records, over all stores. They never contain a card number. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // For a returning payer, who names no store.
  `create index checkouts_provider on checkouts (provider, provider_checkout_id)`,
  // `retry` counts failed attempts of the charge due at next_payment_at; next_try_at is null while none is due.
  `create table sandbox_agreements (
    id text primary key, store_id uuid not null, checkout_id uuid not null, status text not null,
    reason text not null, payer_email text not null, amount numeric(14,2) not null, currency text not null,
    frequency integer not null, starts_at timestamptz, anchor_at timestamptz, next_payment_at timestamptz,
    next_try_at timestamptz, retry integer not null default 0, card jsonb,
    created_at timestamptz not null, updated_at timestamptz not null)`,
  `create index sandbox_agreements_store on sandbox_agreements (store_id, created_at)`,
  `create index sandbox_agreements_due on sandbox_agreements (next_try_at) where next_try_at is not null`,
  `create table sandbox_checkouts (
    id text primary key, store_id uuid not null, checkout_id uuid not null, agreement_id text not null,
    kind text not null, title text not null, first_amount numeric(14,2) not null, currency text not null,
    coupon text, status text not null default 'open', failure_reason text, return_url text not null,
    expires_at timestamptz not null, closed_at timestamptz, created_at timestamptz not null)`,
  `create index sandbox_checkouts_agreement on sandbox_checkouts (agreement_id)`,
  // `position` orders payments of the same instant, when tests freeze the clock.
  `create table sandbox_payments (
    id text primary key, position bigint generated always as identity, store_id uuid not null, agreement_id text not null, checkout_id uuid,
    idempotency_key text, status text not null, amount numeric(14,2) not null, currency text not null,
    due_at timestamptz, attempt integer not null default 1, failure_reason text, card jsonb,
    charge_back_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    unique (agreement_id, due_at, attempt), unique (agreement_id, idempotency_key))`,
  `create index sandbox_payments_agreement on sandbox_payments (agreement_id, updated_at)`,
  `create index sandbox_payments_charge_back on sandbox_payments (charge_back_at)
    where charge_back_at is not null`,
  // Events for its webhooks: written with the change, delivered afterwards.
  `create table sandbox_billing_events (
    id bigint primary key generated always as identity, store_id uuid not null, agreement_id text not null,
    key text not null unique, body jsonb not null, occurred_at timestamptz not null, delivered_at timestamptz)`,
  `create index sandbox_billing_events_agreement on sandbox_billing_events (agreement_id, id)`,
  `create index sandbox_billing_events_open on sandbox_billing_events (id) where delivered_at is null`,
]
