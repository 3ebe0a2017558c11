import { type Kysely, sql } from 'kysely'

/** Exchanges and returns, and their settings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** Filter columns that the indexes of the list include: full rows are read only for the returned page. */
const filters = 'type, outside_window, reasons'

const statements = [
  `create table exchange_settings (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    created_at timestamptz not null, updated_at timestamptz not null)`,

  // The last number: none is assigned twice, whatever is deleted.
  `create table exchange_numbers (
    store_id uuid primary key references stores on delete cascade, last integer not null)`,

  // `reasons`: keys of its items; `search_text`: everything that the list is searched for.
  `create table exchange_requests (
    store_id uuid not null references stores on delete cascade, id uuid not null,
    number text not null, type text not null, status text not null,
    order_id text not null, order_number text not null, order_placed_at timestamptz not null,
    order_delivered_at timestamptz,
    customer_id text, customer_name text, customer_email text, customer_phone text, customer_address jsonb,
    reasons text[] not null, photo_count integer not null default 0, comment text,
    amount numeric(14,2) not null, price_difference numeric(14,2), currency text not null,
    outside_window boolean not null default false,
    return_method text not null, return_address jsonb,
    return_code text, label_url text, carrier text, tracking_code text,
    refund_method text, refund_amount numeric(14,2), exchange_order_id text,
    rejection_code text, rejection_reason text, search_text text not null,
    expires_at timestamptz, approved_at timestamptz, rejected_at timestamptz, in_transit_at timestamptz,
    received_at timestamptz, completed_at timestamptz, cancelled_at timestamptz, expired_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, number))`,
  `create index exchange_requests_newest on exchange_requests (store_id, created_at, id) include (status, ${filters})`,
  `create index exchange_requests_status on exchange_requests (store_id, status, created_at, id) include (${filters})`,
  `create index exchange_requests_figures on exchange_requests (store_id, created_at)
    include (status, type, order_id, approved_at, rejected_at, completed_at, amount, refund_amount, currency)`,
  `create index exchange_requests_reasons on exchange_requests using gin (store_id, reasons)`,
  `create index exchange_requests_order on exchange_requests (store_id, order_id)`,
  `create index exchange_requests_deadline on exchange_requests (expires_at) where status = 'approved'`,
  `create index exchange_requests_search on exchange_requests
    using gin (store_id, status, search_text gin_trgm_ops)`,

  // `line_total`, `line_quantity`: of the whole order line. `requested_at`: the request's own creation.
  `create table exchange_items (
    store_id uuid not null, id uuid not null, request_id uuid not null, position integer not null,
    order_item_id text not null, product_id text, variant_id text, sku text,
    name text not null, variant_name text, image_url text,
    quantity integer not null, approved_quantity integer, received_quantity integer,
    line_total numeric(14,2) not null, line_quantity integer not null, unit_price numeric(14,2) not null,
    reason text not null, reason_label text not null, comment text, exchange_for jsonb,
    requested_at timestamptz not null, primary key (store_id, id),
    foreign key (store_id, request_id) references exchange_requests on delete cascade)`,
  `create index exchange_items_request on exchange_items (store_id, request_id, position)`,
  `create index exchange_items_figures on exchange_items (store_id, requested_at)
    include (request_id, reason, product_id, quantity)`,

  `create table exchange_photos (
    store_id uuid not null, id uuid not null, request_id uuid not null, position integer not null,
    url text not null, key text not null, content_type text not null, size integer not null,
    primary key (store_id, id),
    foreign key (store_id, request_id) references exchange_requests on delete cascade)`,
  `create index exchange_photos_request on exchange_photos (store_id, request_id, position)`,

  // `place`: the order of events of the same instant.
  `create table exchange_history (
    store_id uuid not null, id uuid not null, request_id uuid not null,
    place bigint generated always as identity, at timestamptz not null, event text not null,
    from_status text, to_status text, actor_type text not null, actor_name text, note text,
    primary key (store_id, id),
    foreign key (store_id, request_id) references exchange_requests on delete cascade)`,
  `create index exchange_history_request on exchange_history (store_id, request_id, at, place)`,

  // Links to the shopper's page, one in each message: only their hashes.
  `create table exchange_tokens (
    store_id uuid not null, hash text not null, request_id uuid not null, created_at timestamptz not null,
    primary key (store_id, hash),
    foreign key (store_id, request_id) references exchange_requests on delete cascade)`,
  `create index exchange_tokens_request on exchange_tokens (store_id, request_id)`,

  // Notifications of the shopper, one row per event and channel; `sequence` counts a recurring event. Without a
  // foreign key to the request: a call in flight while it is deleted still records its result.
  `create table exchange_notices (
    store_id uuid not null references stores on delete cascade, id uuid not null, request_id uuid not null,
    event text not null, sequence integer not null, channel text not null,
    state text not null, recipient text not null, content jsonb, reservation_id uuid,
    tries integer not null default 0, called_at timestamptz, next_try_at timestamptz not null,
    provider_message_id text, failure text, sent_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (store_id, id), unique (store_id, request_id, event, sequence, channel))`,
  `create index exchange_notices_waiting on exchange_notices (next_try_at) where state in ('waiting', 'sending')`,

  // Order units of completed, later deleted requests: they still count as used.
  `create table exchange_used_units (
    store_id uuid not null references stores on delete cascade, order_id text not null,
    order_item_id text not null, request_id uuid not null, units integer not null,
    created_at timestamptz not null, primary key (store_id, order_id, order_item_id, request_id))`,

  // Shoppers name an order by its number: while the platform does not answer, this index is used.
  `create index orders_number on orders (store_id, number)`,
]
