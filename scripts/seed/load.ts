/** Bulk rows for measurements: each table is filled by one statement inside the database. */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { rebuildDailySums } from '#operations/store/index'
import { type Services, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { noProgress, type Progress } from '#scripts/cli/progress'
import { type LoadedKey, type LoadedStore, makeKeys, makeStores } from './load-stores.ts'

export interface LoadSizes {
  /** Stores to create, or to fill again; default 1. */
  stores?: number
  /** The slug of an existing store to fill instead of creating stores. */
  store?: string
  /** Per store. */
  campaigns?: number
  lists?: number
  /** Per list. */
  contacts?: number
  optOuts?: number
  orders?: number
  conversions?: number
  /** Time range of orders and conversions. */
  days?: number
}

export interface Load {
  stores: number
  /** New rows by table. */
  rows: Record<string, number>
  /** One per store, with all scopes. */
  keys: LoadedKey[]
}

/** Fills the stores in one transaction; their earlier load keys are revoked. Refuses an unknown slug, and a cluster. */
export async function seedLoad(
  services: Services,
  sizes: LoadSizes,
  progress: Progress = noProgress,
): Promise<Load> {
  const { stores: _stores, store: _store, days: _days, ...rows } = sizes
  if (Object.values(rows).some((count) => count > 0) && (await services.database.isDistributed())) {
    throw refuse(
      'bad_request',
      'On a Citus cluster seed load makes stores alone: fill them on one PostgreSQL, and distribute it with npm run migrate -- --distribute',
    )
  }
  try {
    return await loadStores(services, sizes, progress)
  } finally {
    progress.end()
  }
}

async function loadStores(services: Services, sizes: LoadSizes, progress: Progress): Promise<Load> {
  const { root } = services.database
  const now = services.clock.now()
  const load = await root.transaction().execute(async (db) => {
    await configureBulkLoad(db)
    const stores =
      sizes.store === undefined
        ? await makeStores(db, now, sizes.stores ?? 1)
        : [await findStore(db, sizes.store)]
    const keys = await makeKeys(db, now, stores)
    const filling = { db, now, ids: stores.map((store) => store.id), tag: randomBytes(3).toString('hex') }
    const rows = await fill(filling, sizes, progress)
    await flushTextIndexes(db)
    return { stores: stores.length, ids: filling.ids, rows, keys }
  })
  await sql`analyze`.execute(root)
  const system = new SystemContext(services, services.log, 'seed')
  const summed = load.rows.orders === undefined ? [] : load.ids
  progress.begin('Sums of the days', summed.length, 'stores')
  for (const [n, id] of summed.entries()) {
    const ctx = await system.forStore(id)
    if (ctx) await rebuildDailySums(ctx)
    progress.at(n + 1)
  }
  const { ids: _ids, ...told } = load
  return told
}

/**
 * Skips foreign key checks if the role may: rows are derived from the rows they reference, and checking would take most
 * of the time. Raises the pending-list limit of text indexes.
 */
async function configureBulkLoad(db: RootDatabase): Promise<void> {
  await sql`select set_config('gin_pending_list_limit', '131072', true), set_config('work_mem', '262144', true),
    case when pg_catalog.current_setting('is_superuser')::boolean
    then set_config('session_replication_role', 'replica', true) end`.execute(db)
}

/** Flushes the pending lists of text indexes, which every search would scan otherwise. */
async function flushTextIndexes(db: RootDatabase): Promise<void> {
  await sql`select gin_clean_pending_list(c.oid) from pg_class c join pg_am a on a.oid = c.relam
    where a.amname = 'gin' and c.relnamespace = current_schema()::regnamespace`.execute(db)
}

interface Filling {
  db: RootDatabase
  now: Date
  ids: string[]
  /** Distinguishes the rows of this run from those of others. */
  tag: string
}

async function fill(filling: Filling, sizes: LoadSizes, progress: Progress): Promise<Record<string, number>> {
  const { lists = 0, contacts = 0, campaigns = 0, optOuts = 0, days = 365 } = sizes
  const { orders = 0, conversions = 0 } = sizes
  const perStore = lists * (1 + contacts) + optOuts + campaigns + 2 * (orders + conversions) + 4 * conversions
  progress.begin('Rows', perStore * filling.ids.length, 'rows')
  const rows: Record<string, number> = {}
  let done = 0
  const count = async (table: string, insert: () => Promise<number>): Promise<void> => {
    progress.at(done, table)
    const added = await insert()
    done += added
    if (added > 0) rows[table] = added
  }
  await count('contact_lists', () => insertLists(filling, lists, contacts))
  if (lists > 0) await count('list_contacts', () => insertContacts(filling, contacts))
  await count('opt_outs', () => insertOptOuts(filling, optOuts))
  await count('campaigns', () => insertCampaigns(filling, campaigns))
  await count('orders', () => insertOrders(filling, orders + conversions, days))
  if (orders + conversions > 0) {
    await analyzeTable(filling, 'orders')
    await count('order_items', () => insertOrderItems(filling))
  }
  if (conversions > 0) {
    await count('message_ledger', () => insertMessages(filling, conversions))
    await count('attribution_touches', () => insertTouches(filling, conversions))
    await count('conversions', () => insertConversions(filling, conversions))
    await analyzeTable(filling, 'conversions')
    await count('conversion_items', () => insertConversionItems(filling))
    await insertProducts(filling)
  }
  progress.at(done, 'indexes')
  return rows
}

/**
 * Updates statistics for rows written in this transaction: with old ones, each foreign key lookup would scan all rows
 * of the store.
 */
async function analyzeTable({ db }: Filling, table: 'orders' | 'conversions'): Promise<void> {
  await sql`analyze ${sql.table(table)}`.execute(db)
}

async function findStore(db: RootDatabase, slug: string): Promise<LoadedStore> {
  const store = await db
    .selectFrom('stores')
    .select(['id', 'slug'])
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (!store)
    throw refuse('bad_request', `--store: there is no store ${slug}; npm run store -- list shows them`)
  return store
}

/** A phone for each number; none that the sandbox treats specially. */
const phone = sql`'+55119' || lpad((n * 10 + 5)::text, 8, '0')`

async function insertLists({ db, now, ids, tag }: Filling, count: number, contacts: number): Promise<number> {
  return countInserted(
    await sql`
      insert into contact_lists (store_id, id, name, source, size, created_at, updated_at)
      select s.id, uuid_v7(at), 'List ' || n || ' ' || ${tag}::text, 'manual', ${contacts}::integer, at, at
      from unnest(${ids}::uuid[]) as s(id), generate_series(1, ${count}::integer) as n,
        lateral (select ${now}::timestamptz - n * interval '1 minute' as at) as moment`.execute(db),
  )
}

/** Inserts contacts into the lists of this run. */
async function insertContacts({ db, ids, tag }: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      insert into list_contacts (store_id, id, list_id, phone, phone_key, name, email, source, created_at, updated_at)
      select l.store_id, uuid_v7(l.created_at + n * interval '1 millisecond'), l.id, ${phone}, ${phone},
        'Contact ' || n, 'contact' || n || '@example.com', 'manual', l.created_at, l.created_at
      from contact_lists l, generate_series(1, ${count}::integer) as n
      where l.store_id = any(${ids}::uuid[]) and l.name like ${`List % ${tag}`}`.execute(db),
  )
}

/** Inserts opt-outs, with phones that follow those of the existing ones. */
async function insertOptOuts({ db, now, ids }: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      with s as materialized (
        select given.id, count(o.id) as before
        from unnest(${ids}::uuid[]) as given(id) left join opt_outs o on o.store_id = given.id group by given.id)
      insert into opt_outs (store_id, id, phone, phone_key, source, created_at, updated_at)
      select s.id, uuid_v7(at), ${phone}, ${phone}, 'manual', at, at
      from s, lateral generate_series(before + 1, before + ${count}::bigint) as n,
        lateral (select ${now}::timestamptz - (before + ${count}::bigint - n) * interval '1 second' as at) as moment
      on conflict (store_id, phone_key) do nothing`.execute(db),
  )
}

const content = JSON.stringify({
  type: 'text',
  text: 'Hi {{firstName|there}}, have a look at what is new.',
  optOutText: 'Reply STOP to stop',
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
  media: null,
})

/** Inserts campaigns without messages: half of them drafts, half of them sent. */
async function insertCampaigns({ db, now, ids, tag }: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      insert into campaigns (store_id, id, name, list_id, list_name, content, status, audience_size,
        audience_opted_out, snapshot_at, started_at, completed_at, created_at, updated_at)
      select s.id, uuid_v7(at), 'Campaign ' || n || ' ' || ${tag}::text, l.id, l.name, ${content}::jsonb,
        case when n % 2 = 1 then 'draft' else 'sent' end, case when n % 2 = 0 then 0 end,
        case when n % 2 = 0 then 0 end, case when n % 2 = 0 then at end, case when n % 2 = 0 then at end,
        case when n % 2 = 0 then at end, at, at
      from unnest(${ids}::uuid[]) as s(id)
      left join lateral (
        select id, name from contact_lists where store_id = s.id order by id desc limit 1) as l on true,
        generate_series(1, ${count}::integer) as n,
        lateral (select ${now}::timestamptz - n * interval '1 minute' as at) as moment`.execute(db),
  )
}

/** Inserts orders, of which one in 50 is partly refunded and one in 50 fully. */
async function insertOrders({ db, now, ids, tag }: Filling, count: number, days: number): Promise<number> {
  return countInserted(
    await sql`
      insert into orders (store_id, id, number, status, payment_status, fulfillment_status, currency, subtotal,
        shipping, total, refunded_total, customer_id, customer_name, customer_email, customer_phone, phone_key,
        payment_method, placed_at, paid_at, updated_at)
      select s.id, ${tag}::text || '-' || n, n::text, 'closed',
        case n % 50 when 1 then 'partially-refunded' when 2 then 'refunded' else 'paid' end, 'delivered', 'BRL',
        total - 10, 10, total, case n % 50 when 1 then 10 when 2 then total else 0 end,
        (n % 5000)::text, 'Customer ' || n % 5000, 'customer' || n % 5000 || '@example.com', ${phone}, ${phone},
        'pix', at, at, at
      from unnest(${ids}::uuid[]) as s(id), generate_series(1, ${count}::integer) as n,
        lateral (select ${now}::timestamptz
            - (${count}::float8 - n + random()) / ${count}::float8 * ${days}::integer * interval '1 day' as at,
          (50 + n % 400 + n % 100 / 100.0)::numeric(14,2) as total) as drawn`.execute(db),
  )
}

const ofThisRun = ({ ids, tag }: Filling) => sql`o.store_id = any(${ids}::uuid[]) and o.id like ${`${tag}-%`}`

const line = sql`
  (1001 + o.number::bigint % 40)::text, (2001 + o.number::bigint % 40)::text, 'Product ' || o.number::bigint % 40,
  1, o.subtotal, o.subtotal, least(o.refunded_total, o.subtotal)`

async function insertOrderItems(filling: Filling): Promise<number> {
  return countInserted(
    await sql`
      insert into order_items (store_id, order_id, id, position, product_id, variant_id, name, quantity, unit_price,
        total, refunded_total)
      select o.store_id, o.id, o.id || '-1', 0, ${line} from orders o where ${ofThisRun(filling)}`.execute(
      filling.db,
    ),
  )
}

/** The same in every table with an order's message. */
const source = sql`(array['automation', 'messaging-campaign', 'newsletter', 'stock-notification'])[1 + o.number::bigint % 4]`
const automationType = sql`case when o.number::bigint % 4 = 0 then 'abandoned-cart' end`
const messageId = sql`md5('message ' || o.store_id || o.id)::uuid`
const touchId = sql`md5('touch ' || o.store_id || o.id)::uuid`
const sentAt = sql`o.placed_at - interval '1 hour'`

/** The message behind each of the first orders of this run. */
async function insertMessages(filling: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      insert into message_ledger (store_id, message_id, channel, source, source_id, phone_key, status, sent_at,
        delivered_at, read_at)
      select o.store_id, ${messageId}, 'messaging', ${source}, 'load-' || o.number::bigint % 20, o.phone_key,
        'read', ${sentAt}, ${sentAt}, ${sentAt}
      from orders o where ${ofThisRun(filling)} and o.number::bigint <= ${count}::bigint`.execute(filling.db),
  )
}

async function insertTouches(filling: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      insert into attribution_touches (store_id, id, source_type, source_id, source_name, automation_type, channel,
        message_id, phone_key, touched_at, conversions)
      select o.store_id, ${touchId}, ${source}, 'load-' || o.number::bigint % 20, 'Load', ${automationType},
        'messaging', ${messageId}::text, o.phone_key, ${sentAt},
        case when o.payment_status in ('paid', 'partially-refunded') then 1 else 0 end
      from orders o where ${ofThisRun(filling)} and o.number::bigint <= ${count}::bigint`.execute(filling.db),
  )
}

async function insertProducts({ db, ids, now }: Filling): Promise<void> {
  await sql`
    insert into conversion_products (store_id, product_id, name, seen_at)
    select s.id, (1001 + n)::text, 'Product ' || n, ${now}::timestamptz
    from unnest(${ids}::uuid[]) as s(id), generate_series(0, 39) as n
    on conflict do nothing`.execute(db)
}

/** Inserts conversions for the first orders of this run. */
async function insertConversions(filling: Filling, count: number): Promise<number> {
  return countInserted(
    await sql`
      insert into conversions (store_id, id, order_id, order_number, status, source_type, source_id, source_name,
        automation_type, channel, message_id, touch_id, customer, currency, order_total, refunded_total, revenue,
        touched_at, placed_at, paid_at, created_at, updated_at)
      select o.store_id, uuid_v7(o.placed_at), o.id, o.number,
        case o.payment_status when 'paid' then 'confirmed' else o.payment_status end,
        ${source}, 'load-' || o.number::bigint % 20, 'Load', ${automationType}, 'messaging',
        ${messageId}::text, ${touchId},
        jsonb_build_object('id', o.customer_id, 'name', o.customer_name, 'email', o.customer_email,
          'phone', o.customer_phone),
        o.currency, o.total, o.refunded_total, o.total - o.refunded_total, o.placed_at - interval '1 hour',
        o.placed_at, o.paid_at, o.placed_at, o.placed_at
      from orders o where ${ofThisRun(filling)} and o.number::bigint <= ${count}::bigint`.execute(filling.db),
  )
}

async function insertConversionItems(filling: Filling): Promise<number> {
  return countInserted(
    await sql`
      insert into conversion_items (store_id, conversion_id, position, product_id, variant_id, name, quantity,
        unit_price, total, refunded_total)
      select o.store_id, c.id, 0, ${line}
      from orders o join conversions c on c.store_id = o.store_id and c.order_id = o.id
      where ${ofThisRun(filling)}`.execute(filling.db),
  )
}

const countInserted = (result: { numAffectedRows?: bigint | undefined }): number =>
  Number(result.numAffectedRows ?? 0)
