/** Stores as they are in life: contacts by a power law, and whatever they began long done. */
import { sql } from 'kysely'
import type { Database, RootDatabase } from '#db/database'
import { inBulk, sortIn } from '#scripts/seed/load'
import { type LoadedStore, makeKeys, makeStores } from '#scripts/seed/load-stores'
import { phoneAt } from '../phones.ts'

export interface ActiveStore {
  slug: string
  key: string
  listId: string
}

/** Answers those that will be active: every so many of them, from the largest store to the smallest. */
export async function fillStores(
  database: Database,
  sizes: { stores: number; contacts: number; active: number },
): Promise<ActiveStore[]> {
  const now = new Date()
  const active = await database.root.transaction().execute(async (db) => {
    await inBulk(db)
    const stores = await makeStores(db, now, sizes.stores)
    await insertLists(db, now, stores, byPowerLaw(sizes.stores, sizes.contacts))
    await insertOptOuts(db, now, stores)
    await insertWhatIsDone(db, now, stores)
    await sortIn(db)
    const every = Math.max(1, Math.floor(sizes.stores / sizes.active))
    const chosen = stores.filter((_, at) => at % every === 0).slice(0, sizes.active)
    const keys = await makeKeys(db, now, chosen)
    return withLists(db, chosen, keys)
  })
  await database.query('vacuum analyze', [])
  return active
}

/** The n-th largest has an n-th of the largest's (Zipf), rounded so that the sum is what was asked for. */
export function byPowerLaw(count: number, sum: number): number[] {
  const whole = Array.from({ length: count }, (_, at) => 1 / (at + 1)).reduce((a, b) => a + b, 0)
  let given = 0
  let due = 0
  return Array.from({ length: count }, (_, at) => {
    due += sum / whole / (at + 1)
    const own = Math.round(due) - given
    given += own
    return own
  })
}

async function insertLists(
  db: RootDatabase,
  now: Date,
  stores: readonly LoadedStore[],
  sizes: readonly number[],
): Promise<void> {
  const ids = stores.map(({ id }) => id)
  await sql`
    insert into contact_lists (store_id, id, name, source, size, created_at, updated_at)
    select s.id, uuid_v7(${now}::timestamptz), 'Everybody', 'manual', s.size, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${ids}::uuid[], ${[...sizes]}::integer[]) as s(id, size)`.execute(db)
  await sql`
    insert into list_contacts (store_id, id, list_id, phone, phone_key, name, email, source, created_at, updated_at)
    select l.store_id, uuid_v7(l.created_at + n * interval '1 millisecond'), l.id, phone, phone,
      'Contact ' || n, 'contact' || n || '@example.com', 'manual', l.created_at, l.created_at
    from contact_lists l, generate_series(1, l.size) as n,
      lateral (select '+55119' || lpad((n * 10 + 5)::text, 8, '0') as phone) as dialled
    where l.store_id = any(${ids}::uuid[])`.execute(db)
}

const optOutsOfEach = 3

async function insertOptOuts(db: RootDatabase, now: Date, stores: readonly LoadedStore[]): Promise<void> {
  const phones = Array.from({ length: optOutsOfEach }, (_, at) => phoneAt(at))
  await sql`
    insert into opt_outs (store_id, id, phone, phone_key, source, created_at, updated_at)
    select s.id, uuid_v7(${now}::timestamptz), phone, phone, 'manual', ${now}::timestamptz, ${now}::timestamptz
    from unnest(${stores.map(({ id }) => id)}::uuid[]) as s(id), unnest(${phones}::text[]) as phone`.execute(
    db,
  )
}

/** Of each kind that the clock looks for, some that nothing is left to be done of. */
async function insertWhatIsDone(db: RootDatabase, now: Date, stores: readonly LoadedStore[]): Promise<void> {
  const at = sql`${new Date(now.getTime() - 20 * 86_400_000)}::timestamptz`
  const each = sql`unnest(${stores.map(({ id }) => id)}::uuid[]) as s(id), generate_series(1, 3) as n`
  const statements = [
    sql`insert into campaigns (store_id, id, name, content, status, audience_size, audience_opted_out, snapshot_at,
        started_at, completed_at, created_at, updated_at)
      select s.id, uuid_v7(${at}), 'Campaign ' || n, '{}', case n when 1 then 'draft' else 'sent' end, 0, 0, ${at}, ${at},
        ${at}, ${at}, ${at} from ${each}`,
    sql`insert into stock_subscriptions (store_id, id, product_id, variant_id, product_name, channel, email,
        contact_key, source, status, click_token, sent_at, created_at, updated_at)
      select s.id, uuid_v7(${at}), n::text, n::text, 'Product ' || n, 'email', 'a@example.com', 'a@example.com',
        'storefront', 'sent', s.id || '-' || n, ${at}, ${at}, ${at} from ${each}`,
    sql`insert into review_dispatches (store_id, id, order_id, order_number, order_item_id, product_id, product_name,
        channel, status, scheduled_at, sent_at, last_sent_at, search_text, created_at, updated_at)
      select s.id, uuid_v7(${at}), n::text, n::text, '1', n::text, 'Product ' || n, 'email', 'sent', ${at}, ${at}, ${at},
        n::text, ${at}, ${at} from ${each}`,
    sql`insert into automations (store_id, id, type, name, is_active, delay_minutes, message, conditions,
        skip_if_purchased, quiet_hours, settings, created_at, updated_at)
      select s.id, uuid_v7(${at}), 'birthday', 'Birthday ' || n, false, 0, '{}', '{}', false, '{}', '{"sendAt":"09:00"}',
        ${at}, ${at} from ${each}`,
    sql`insert into notifications (store_id, id, title, created_at, updated_at)
      select s.id, uuid_v7(${at}), 'Something was done', ${at}, ${at} from ${each}`,
    sql`insert into provider_events (id, store_id, port, provider, key, kind, payload, occurred_at, applied_at, created_at)
      select uuid_v7(${at}), s.id, 'ecommerce', 'sandbox', s.id || '-' || n, 'order.updated', '{}', ${at}, ${at}, ${at}
      from ${each}`,
  ]
  for (const statement of statements) await statement.execute(db)
}

async function withLists(
  db: RootDatabase,
  chosen: readonly LoadedStore[],
  keys: readonly { store: string; key: string }[],
): Promise<ActiveStore[]> {
  const lists = await db
    .selectFrom('contact_lists')
    .innerJoin('stores', 'stores.id', 'contact_lists.store_id')
    .select(['stores.slug', 'contact_lists.id'])
    .where(
      'stores.id',
      'in',
      chosen.map(({ id }) => id),
    )
    .execute()
  const bySlug = new Map(lists.map(({ slug, id }) => [slug, id]))
  return keys.map(({ store, key }) => ({ slug: store, key, listId: bySlug.get(store)! }))
}

/** All of them, to the platform of the sandbox, which tells of no product, order or cart. */
export async function connectStores(database: Database): Promise<void> {
  await database.query(
    `insert into connections (store_id, port, provider, connected_at, created_at, updated_at)
     select id, 'ecommerce', 'sandbox', now(), now(), now() from stores`,
    [],
  )
  await database.query('vacuum analyze connections', [])
}
