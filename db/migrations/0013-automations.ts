import { type Kysely, sql } from 'kysely'

/** Carts of the platform, automations, their runs and messages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table carts (
    store_id uuid not null references stores on delete cascade, id text not null,
    customer_id text, customer_name text, customer_email text, customer_phone text, phone_key text,
    items jsonb not null, total numeric(14,2) not null, currency text not null, url text not null,
    order_id text, last_activity_at timestamptz not null,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create index carts_activity on carts (store_id, last_activity_at)`,
  `create index carts_phone on carts (store_id, phone_key)`,

  // A deleted automation keeps its row: its messages show its name.
  `create table automations (
    store_id uuid not null references stores on delete cascade, id uuid not null, type text not null,
    name text not null, is_active boolean not null, activated_at timestamptz,
    delay_minutes integer not null, message jsonb not null, coupon jsonb, conditions jsonb not null,
    skip_if_purchased boolean not null, quiet_hours jsonb not null, settings jsonb not null,
    flow jsonb, flow_version integer, created_by uuid, deleted_at timestamptz,
    scan_day date, scan_cursor text,
    -- While candidates enter by execute: by which job, and how many more may.
    executing_job_id uuid, executing_left integer,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id))`,
  `create unique index automations_name on automations (store_id, lower(name)) where deleted_at is null`,
  `create index automations_scanned on automations (type) where is_active and deleted_at is null`,
  `create index automations_executing on automations (executing_job_id) where executing_job_id is not null`,
  // A version may also have no flow: then the flow was removed.
  `create table automation_flow_versions (
    store_id uuid not null, automation_id uuid not null, version integer not null, flow jsonb,
    step_count integer not null, message_count integer not null, created_by uuid,
    created_at timestamptz not null, primary key (store_id, automation_id, version),
    foreign key (store_id, automation_id) references automations on delete cascade)`,

  // The run of one contact through one automation. `entry_key`: allows one entry.
  `create table automation_runs (
    store_id uuid not null, id uuid not null, automation_id uuid not null, entry_key text not null,
    origin text not null, flow_version integer, event text not null, entity_type text not null,
    entity_id text not null, occurred_at timestamptz not null,
    cart_id text, order_id text, customer_id text, phone text, phone_key text, email text,
    contact_name text, created_by uuid, entered_at timestamptz not null, ended_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, automation_id, entry_key),
    foreign key (store_id, automation_id) references automations on delete cascade)`,
  `create index automation_runs_version on automation_runs (store_id, automation_id, flow_version, entered_at)`,
  `create index automation_runs_phone on automation_runs (store_id, phone_key) where ended_at is null`,
  `create index automation_runs_email on automation_runs (store_id, lower(email)) where ended_at is null`,
  `create index automation_runs_customer on automation_runs (store_id, customer_id) where ended_at is null`,
  `create index automation_runs_cart on automation_runs (store_id, cart_id) where ended_at is null`,
  `create index automation_runs_order on automation_runs (store_id, order_id) where ended_at is null`,

  `create table automation_executions (
    store_id uuid not null, id uuid not null, run_id uuid not null, automation_id uuid not null,
    sequence integer not null, step_id text, status text not null,
    phone text, phone_key text, scheduled_at timestamptz not null,
    hold_reason text, held_since timestamptz, held_ms integer not null default 0, hold_tries integer not null default 0,
    is_forced boolean not null default false, passed_purchase_check boolean not null default false,
    message jsonb, text text, officialapi_template_id integer, coupon_code text,
    reservation_id uuid, claim_id uuid, claimed_at timestamptz, called_at timestamptz, attempts integer not null default 0,
    provider_message_id text, failure_code text, skip_reason text, failure_reason text,
    sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz,
    ended_at timestamptz, converted_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null, primary key (store_id, id),
    unique (store_id, run_id, sequence),
    foreign key (store_id, run_id) references automation_runs on delete cascade)`,
  `create unique index automation_executions_open on automation_executions (store_id, run_id)
    where status in ('pending', 'sending')`,
  // Due executions of all stores, by due time: the only rows that the sweep reads.
  `create index automation_executions_due on automation_executions (scheduled_at, store_id)
    where status = 'pending'`,
  `create index automation_executions_held on automation_executions (store_id, hold_reason)
    where status = 'pending' and hold_reason is not null`,
  `create index automation_executions_claimed on automation_executions (claimed_at) where status = 'sending'`,
  `create index automation_executions_list on automation_executions (store_id, automation_id, scheduled_at desc, id desc)`,
  // The only source of daily counts.
  `create index automation_executions_day on automation_executions
    (store_id, automation_id, (coalesce(sent_at, scheduled_at))) include (status, sent_at, scheduled_at)`,
  `create index automation_executions_converted on automation_executions
    (store_id, automation_id, (coalesce(sent_at, scheduled_at))) where converted_at is not null`,
  `create index automation_executions_open_of on automation_executions (store_id, automation_id, status)
    where status in ('pending', 'sending')`,
  `create index automation_executions_phone on automation_executions (store_id, phone_key, automation_id, sent_at)`,

  // One row per step that a run reached; `step_id` '' is the first message.
  `create table automation_step_log (
    store_id uuid not null, run_id uuid not null, step_id text not null, automation_id uuid not null,
    flow_version integer, type text not null, outcome text, entered_at timestamptz not null,
    left_at timestamptz, primary key (store_id, run_id, step_id),
    foreign key (store_id, run_id) references automation_runs on delete cascade)`,
  // Coupon codes of a run, before the platform is called; '' is the coupon of the first message.
  `create table automation_coupons (
    store_id uuid not null, run_id uuid not null, step_id text not null, code text not null,
    spec jsonb not null, amount numeric(14,2), ends_at timestamptz not null, is_made boolean not null default false,
    created_at timestamptz not null, primary key (store_id, run_id, step_id),
    foreign key (store_id, run_id) references automation_runs on delete cascade)`,
  `create unique index automation_coupons_code on automation_coupons (store_id, code)`,
  // Send slots reserved on a number for the store's next messages, so that no second worker takes them.
  `create table automation_turns (
    store_id uuid not null references stores on delete cascade, number_id text not null,
    at timestamptz not null, units integer not null, primary key (store_id, number_id))`,

  // Whether a contact has ordered since.
  `create index orders_customer on orders (store_id, customer_id, placed_at)`,
  `create index orders_email on orders (store_id, lower(customer_email), placed_at)`,
  `create index orders_cart on orders (store_id, cart_id) where cart_id is not null`,
]
