import { type Kysely, sql } from 'kysely'

/**
 * The popup with its prizes, previews and subscribers, the contact form, email unsubscribes, pushes to email
 * providers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // One row per store, from the first save on. `revision` is an optimistic lock.
  `create table newsletter_settings (
    store_id uuid primary key references stores on delete cascade, settings jsonb not null,
    revision integer not null default 1, enabled_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null)`,
  // How many prizes were won, for prizes with a stock.
  `create table newsletter_prizes (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    taken integer not null default 0, primary key (store_id, id))`,
  `create table newsletter_previews (
    store_id uuid not null references stores on delete cascade, id uuid not null, settings jsonb not null,
    expires_at timestamptz not null, created_at timestamptz not null, primary key (store_id, id))`,
  `create index newsletter_previews_age on newsletter_previews (expires_at)`,

  `alter table newsletter_subscribers
    add column prize_id uuid, add column coupon jsonb, add column coupon_email text,
    add column revision integer not null default 1, add column pushed_revision integer,
    add column push_due boolean not null default false, add column push_claim uuid,
    add column push_claimed_at timestamptz,
    add column mailprovider_status text, add column mailprovider_synced_at timestamptz`,
  `create unique index newsletter_subscribers_code on newsletter_subscribers (store_id, coupon_code)
    where coupon ->> 'mode' = 'unique'`,
  `create index newsletter_subscribers_prize on newsletter_subscribers (store_id, prize_id)
    where prize_id is not null`,
  `create index newsletter_subscribers_status on newsletter_subscribers (store_id, status, id)`,
  `create index newsletter_subscribers_left on newsletter_subscribers (store_id, unsubscribed_at)
    where unsubscribed_at is not null`,
  `create index newsletter_subscribers_push on newsletter_subscribers (store_id, id) where push_due`,
  `create index newsletter_subscribers_search on newsletter_subscribers using gin (store_id,
    lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, phone gin_trgm_ops)`,

  `create table newsletter_syncs (
    store_id uuid not null references stores on delete cascade, id uuid not null, list_id text not null,
    mode text not null, status text not null default 'queued', cursor uuid,
    pushed integer not null default 0, failure_reason text, finished_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index newsletter_syncs_live on newsletter_syncs (store_id)
    where status in ('queued', 'running')`,

  `create table contact_form_settings (
    store_id uuid primary key references stores on delete cascade, settings jsonb not null,
    revision integer not null default 1,
    created_at timestamptz not null, updated_at timestamptz not null)`,
  `create table contact_form_submissions (
    store_id uuid not null references stores on delete cascade, id uuid not null, name text, email text,
    phone text, message text, "values" jsonb not null default '{}', page_url text, crm_list_id uuid,
    crm_status text, contact_id uuid, created_at timestamptz not null, primary key (store_id, id))`,
  `create index contact_form_submissions_created on contact_form_submissions (store_id, created_at)`,
  `create index contact_form_submissions_search on contact_form_submissions using gin (store_id,
    lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, phone gin_trgm_ops, lower(message) gin_trgm_ops)`,

  // Unsubscribes by topic; those from the newsletter are in the subscriber's status.
  `create table email_unsubscribes (
    store_id uuid not null references stores on delete cascade, email text not null, topic text not null,
    created_at timestamptz not null, primary key (store_id, email, topic))`,
]
