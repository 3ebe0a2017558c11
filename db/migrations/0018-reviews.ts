import { type Kysely, sql } from 'kysely'

/** Reviews from request to reply, and testimonials. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** Filter columns of the list, in its indexes: rows with long texts are read for the page only. */
const filters = 'status, rating, product_id, verified, featured, has_images, has_reply, source'

const statements = [
  // `requests_since`: when requests were turned on; orders that reached the trigger before are never asked.
  `create table review_settings (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    requests_since timestamptz, scanned_to timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null)`,

  // `kind`: everything that the figures count by, in one small number (`lib/metrics.ts`).
  `create table product_reviews (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    product_id text not null, product_name text, product_image_url text,
    variant_id text, variant_name text,
    order_id text, order_item_id text, order_number text,
    customer_name text not null, customer_email text, customer_phone text, phone_key text,
    rating smallint not null, title text, text text,
    images jsonb not null default '[]',
    has_images boolean generated always as (images <> '[]'::jsonb) stored,
    show_images boolean not null default true,
    status text not null, rejection_reason text,
    verified boolean not null default false, verified_source text,
    featured boolean not null default false,
    reply_text text, reply_author text, replied_at timestamptz,
    has_reply boolean generated always as (reply_text is not null) stored,
    source text not null, import_key text, search_text text not null,
    kind smallint not null generated always as (
      case status when 'pending' then 0 when 'approved' then 1 else 2 end + rating * 4
      + case source when 'import' then 32 else 0 end + verified::int * 64
      + (images <> '[]'::jsonb)::int * 128) stored,
    reviewed_at timestamptz not null, moderated_at timestamptz, moderated_by text,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create unique index product_reviews_once on product_reviews (store_id, product_id, lower(customer_email))
    where source <> 'import'`,
  `create unique index product_reviews_import on product_reviews (store_id, import_key)
    where import_key is not null`,
  `create index product_reviews_newest on product_reviews (store_id, reviewed_at, id) include (${filters}, kind)`,
  `create index product_reviews_rating on product_reviews (store_id, rating, reviewed_at, id)
    include (${filters.replace(' rating,', '')})`,
  `create index product_reviews_status on product_reviews (store_id, status, reviewed_at, id)
    include (${filters.replace('status, ', '')})`,
  `create index product_reviews_product on product_reviews (store_id, product_id, status, reviewed_at, id)
    include (rating, featured)`,
  // Small, for sums over all time.
  `create index product_reviews_approved on product_reviews (store_id, product_id, rating)
    where status = 'approved'`,
  `create index product_reviews_phone on product_reviews (store_id, phone_key, reviewed_at)
    where phone_key is not null`,
  `create index product_reviews_email on product_reviews (store_id, lower(customer_email))
    where customer_email is not null`,
  `create index product_reviews_search on product_reviews
    using gin (store_id, status, search_text gin_trgm_ops)`,

  `create table review_dispatches (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    order_id text not null, order_number text not null, order_item_id text not null,
    product_id text not null, product_name text not null, variant_id text,
    customer_name text, customer_email text, customer_phone text, phone_key text,
    channel text not null, status text not null, reason text,
    scheduled_at timestamptz not null, sent_at timestamptz, last_sent_at timestamptz,
    next_reminder_at timestamptz, reminders_sent integer not null default 0,
    review_id uuid, message_id uuid, search_text text not null,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, order_id, order_item_id))`,
  `create index review_dispatches_list on review_dispatches (store_id, status, scheduled_at, id)`,
  `create index review_dispatches_all on review_dispatches (store_id, scheduled_at, id)`,
  `create index review_dispatches_due on review_dispatches (scheduled_at) where status = 'scheduled'`,
  `create index review_dispatches_reminders on review_dispatches (next_reminder_at)
    where next_reminder_at is not null`,
  `create index review_dispatches_sent on review_dispatches (store_id, sent_at) include (status, product_id)
    where sent_at is not null`,
  `create index review_dispatches_product on review_dispatches (store_id, product_id, lower(customer_email))`,
  `create index review_dispatches_phone on review_dispatches (store_id, product_id, phone_key)
    where phone_key is not null`,
  `create index review_dispatches_message on review_dispatches (store_id, message_id)
    where message_id is not null`,
  `create index review_dispatches_review on review_dispatches (store_id, review_id)
    where review_id is not null`,
  `create index review_dispatches_search on review_dispatches
    using gin (store_id, search_text gin_trgm_ops)`,

  // One message for the items of an order; its id is that of the first dispatch, later ones get a new id.
  `create table review_messages (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    number integer not null, kind text not null, order_id text not null, channel text not null,
    state text not null, email text, phone text, content jsonb, reservation_id uuid,
    calls integer not null default 0, called_at timestamptz, next_try_at timestamptz not null,
    provider_message_id text, failure text, sent_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id))`,
  `create index review_messages_waiting on review_messages (next_try_at) where state = 'sending'`,
  `create index review_messages_order on review_messages (store_id, order_id)`,

  `create table review_tokens (
    store_id uuid not null references stores on delete cascade, hash text not null,
    order_id text not null, expires_at timestamptz not null, created_at timestamptz not null,
    primary key (store_id, hash))`,

  `create table review_imports (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    status text not null, columns jsonb not null, default_status text not null, total integer not null,
    cursor integer not null default 0, imported integer not null default 0,
    duplicates integer not null default 0, failed integer not null default 0,
    failure_reason text, user_id uuid, finished_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  // Rows wait here for the job; refused ones stay until their report is written.
  `create table review_import_rows (
    store_id uuid not null, import_id uuid not null, line integer not null, cells jsonb not null,
    fault_column text, fault text, primary key (store_id, import_id, line),
    foreign key (store_id, import_id) references review_imports on delete cascade)`,

  `create table testimonials (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    position integer not null, author_name text not null, author_title text, text text not null,
    rating smallint, photo_url text, is_enabled boolean not null default true,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create index testimonials_position on testimonials (store_id, position)`,
  `create table testimonial_settings (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    created_at timestamptz not null, updated_at timestamptz not null)`,

  // The hourly scan for changed orders.
  `create index orders_changed on orders (store_id, updated_at)`,
]
