import { type Kysely, sql } from 'kysely'

/** Opt-outs, contact lists and their imports, campaigns and their messages; popup subscribers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table opt_outs (
    store_id uuid not null references stores on delete cascade, id uuid not null, phone text not null,
    phone_key text not null, note text, source text not null, campaign_id uuid,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, phone_key))`,
  `create index opt_outs_source on opt_outs (store_id, source, id)`,
  `create index opt_outs_campaign on opt_outs (store_id, campaign_id) where campaign_id is not null`,

  `create table contact_lists (
    store_id uuid not null references stores on delete cascade, id uuid not null, name text not null,
    source text not null, filters jsonb, size integer not null default 0,
    custom_field_names text[] not null default '{}', last_synced_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index contact_lists_name on contact_lists (store_id, lower(name))`,
  `create table list_contacts (
    store_id uuid not null references stores on delete cascade, id uuid not null, list_id uuid not null,
    phone text not null, phone_key text not null, name text, email text,
    custom_fields jsonb not null default '{}', source text not null, platform_customer_id text,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, list_id, phone_key),
    foreign key (store_id, list_id) references contact_lists on delete cascade)`,
  `create unique index list_contacts_order on list_contacts (store_id, list_id, id)`,
  `create index list_contacts_phone on list_contacts (store_id, phone_key)`,
  `create table list_exclusions (
    store_id uuid not null references stores on delete cascade, list_id uuid not null,
    phone_key text not null, created_at timestamptz not null, primary key (store_id, list_id, phone_key),
    foreign key (store_id, list_id) references contact_lists on delete cascade)`,
  `create table list_imports (
    store_id uuid not null references stores on delete cascade, id uuid not null, list_id uuid not null,
    kind text not null, status text not null, options jsonb not null default '{}', cursor text,
    total integer, processed integer not null default 0, added integer not null default 0,
    updated integer not null default 0, unchanged integer not null default 0,
    invalid integer not null default 0, excluded integer not null default 0,
    errors jsonb not null default '[]', failure_reason text, user_id uuid,
    started_at timestamptz, finished_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    foreign key (store_id, list_id) references contact_lists on delete cascade)`,
  `create unique index list_imports_live on list_imports (store_id, list_id)
    where status in ('queued', 'running')`,
  `create index list_imports_latest on list_imports (store_id, list_id, id)`,
  `create table list_import_rows (
    store_id uuid not null references stores on delete cascade, import_id uuid not null,
    line integer not null, cells jsonb not null, primary key (store_id, import_id, line),
    foreign key (store_id, import_id) references list_imports on delete cascade)`,

  `create table campaigns (
    store_id uuid not null references stores on delete cascade, id uuid not null, name text not null,
    list_id uuid, list_name text, content jsonb not null, send_window jsonb,
    status text not null default 'draft', pause_reason text, failure_reason text,
    audience_size integer, audience_opted_out integer,
    total integer not null default 0, pending integer not null default 0, sent integer not null default 0,
    delivered integer not null default 0, read integer not null default 0,
    failed integer not null default 0, skipped integer not null default 0,
    cancelled integer not null default 0,
    attempted_since_start integer not null default 0, failed_since_start integer not null default 0,
    reservation_id uuid, snapshot_at timestamptz, last_progress_at timestamptz, trouble_since timestamptz,
    scheduled_at timestamptz, started_at timestamptz, paused_at timestamptz, completed_at timestamptz,
    next_batch_at timestamptz, estimated_finish_at timestamptz, created_by uuid, deleted_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create index campaigns_newest on campaigns (store_id, id) where deleted_at is null`,
  `create index campaigns_status on campaigns (store_id, status, id) where deleted_at is null`,
  `create index campaigns_live on campaigns (status, scheduled_at)
    where status in ('scheduled', 'sending') and deleted_at is null`,
  `create index campaigns_list on campaigns (store_id, list_id)`,
  `create table campaign_messages (
    store_id uuid not null references stores on delete cascade, id uuid not null, campaign_id uuid not null,
    contact_id uuid, phone text not null, phone_key text not null, name text, email text,
    custom_fields jsonb not null default '{}', status text not null, skip_reason text, failure_code text,
    failure_message text, text text, attempts integer not null default 0,
    generation integer not null default 1, provider_message_id text,
    claim_id uuid, claimed_at timestamptz, called_at timestamptz, reservation_id uuid,
    unit text not null default 'none',
    sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index campaign_messages_phone on campaign_messages (store_id, campaign_id, phone_key)`,
  `create unique index campaign_messages_order on campaign_messages (store_id, campaign_id, id)`,
  `create index campaign_messages_status on campaign_messages (store_id, campaign_id, status, id)`,
  `create index campaign_messages_recent on campaign_messages (store_id, phone_key, sent_at)
    where sent_at is not null`,
  `create index campaign_messages_claimed on campaign_messages (claimed_at) where status = 'sending'`,

  `create table newsletter_subscribers (
    store_id uuid not null references stores on delete cascade, id uuid not null, email text, phone text,
    phone_key text, name text, status text not null default 'subscribed', source text not null,
    consent_email boolean not null default false, consent_phone boolean not null default false,
    consent_text text, consent_at timestamptz, prize_label text, coupon_code text, coupon_status text,
    page_url text, device text, unsubscribed_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index newsletter_subscribers_email on newsletter_subscribers (store_id, lower(email))`,
  `create unique index newsletter_subscribers_phone on newsletter_subscribers (store_id, phone_key)`,
]
