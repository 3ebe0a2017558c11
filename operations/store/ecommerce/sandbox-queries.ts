/** Queries products, categories, customers, orders and carts of the sandbox's shops. */
import { type RawBuilder, sql } from 'kysely'
import { foldedLike, toWordsFilter } from '#runtime/database/search'
import { roundToCents } from '#runtime/database/sql'
import { Refused } from '#runtime/ports/errors'
import type { Cart, Category, PlatformCustomer, PlatformOrder, Product, ProductQuery } from './port.ts'
import type { StoredCategory } from './sandbox-catalog.ts'
import { listObjects, type ObjectKind, type Shop } from './sandbox-rows.ts'

const sorts: Record<ProductQuery['sort'], RawBuilder<unknown>> = {
  name: sql`fold_text(p.data ->> 'name')`,
  price: sql`(p.data ->> 'price')::numeric`,
  '-price': sql`(p.data ->> 'price')::numeric desc`,
  '-updatedAt': sql`p.data ->> 'updatedAt' desc`,
}

/** Finds products in the requested order, equal ones by id. `search` matches name, SKU, tags and brand. */
export async function searchProducts(
  shop: Shop,
  query: ProductQuery,
): Promise<{ products: Product[]; total: number }> {
  const conditions = [sql`p.store_id = ${shop.storeId}::uuid`, sql`p.kind = 'product'`]
  if (query.ids) conditions.push(sql`p.id = any(${query.ids}::text[])`)
  if (query.categoryId !== undefined) {
    conditions.push(sql`p.data -> 'categories' @> ${JSON.stringify([{ id: query.categoryId }])}::jsonb`)
  }
  if (query.isPublished !== undefined) {
    conditions.push(sql`(p.data ->> 'isPublished')::boolean = ${query.isPublished}`)
  }
  if (query.inStock !== undefined) {
    conditions.push(sql`(coalesce((p.data ->> 'stock')::bigint, 1) > 0) = ${query.inStock}`)
  }
  if (query.search !== undefined) {
    const folded = sql`(select fold_text(string_agg(t.text, ' ')) from (
      values (p.data ->> 'name'), (p.data ->> 'brand')
      union all select jsonb_array_elements_text(p.data -> 'tags')
      union all select v.value ->> 'sku' from jsonb_array_elements(p.data -> 'variants') v) as t(text))`
    conditions.push(foldedLike(folded, toWordsFilter(query.search).search))
  }
  const matching = sql`from sandbox_objects p where ${sql.join(conditions, sql` and `)}`
  const offset = (query.page - 1) * query.limit
  const { rows } = await sql<{ total: number; products: Product[] }>`
    select (select count(*) ${matching})::int as total, coalesce((
      select jsonb_agg(page.data order by page.place) from (
        select p.data, row_number() over (order by ${sorts[query.sort]}, p.id) as place ${matching}
        order by place limit ${query.limit}::int offset ${offset}::bigint) as page), '[]') as products`.execute(
    shop.db,
  )
  return rows[0]!
}

/** All categories in tree order: siblings by position, children right after their parent. */
export async function listCategories(shop: Shop): Promise<Category[]> {
  const categories = await listObjects<StoredCategory>(shop, 'category')
  const { rows } = await sql<{ id: string; products: number }>`
    select c.value ->> 'id' as id, count(*)::int as products
    from sandbox_objects p, jsonb_array_elements(p.data -> 'categories') c
    where p.store_id = ${shop.storeId}::uuid and p.kind = 'product' group by 1`.execute(shop.db)
  const counts = new Map(rows.map((row) => [row.id, row.products]))
  const known = new Set(categories.map((category) => category.id))
  const children = new Map<string | null, StoredCategory[]>()
  for (const category of categories) {
    const parent = category.parentId !== null && known.has(category.parentId) ? category.parentId : null
    children.set(parent, [...(children.get(parent) ?? []), category])
  }
  const listed: Category[] = []
  const walk = (parent: string | null, above: string): void => {
    const siblings = (children.get(parent) ?? []).sort(
      (a, b) => a.position - b.position || (a.id < b.id ? -1 : 1),
    )
    for (const category of siblings) {
      const path = above === '' ? category.name : `${above} > ${category.name}`
      listed.push({ ...category, path, productCount: counts.get(category.id) ?? 0 })
      walk(category.id, path)
    }
  }
  walk(null, '')
  return listed
}

/** A page of customers in order of creation, with figures about their counted orders in the shop's currency. */
export async function listCustomers(
  shop: Shop,
  query: { cursor?: string; limit: number; birthdays?: string[] },
): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
  const after = query.cursor === undefined ? '0' : query.cursor
  if (!/^\d{1,18}$/.test(after))
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
  const birthdays = query.birthdays
    ? sql`and right(data ->> 'birthDate', 5) = any(${query.birthdays}::text[])`
    : sql``
  const { rows } = await sql<{ position: number; customer: PlatformCustomer }>`
    with walked as (
      select id, position, data from sandbox_objects
      where store_id = ${shop.storeId}::uuid and kind = 'customer' and position > ${after}::bigint ${birthdays}
      order by position limit ${query.limit + 1}::int
    ), bought as (
      select o.data -> 'customer' ->> 'id' as id, count(*)::int as orders,
        min(o.data ->> 'placedAt') as first_at, max(o.data ->> 'placedAt') as last_at,
        sum((o.data ->> 'total')::numeric - (o.data ->> 'refundedTotal')::numeric)
          filter (where o.data ->> 'currency' = (select currency from stores where id = ${shop.storeId}::uuid)) as spent
      from sandbox_objects o
      where o.store_id = ${shop.storeId}::uuid and o.kind = 'order'
        and o.data -> 'customer' ->> 'id' in (select id from walked)
        and o.data ->> 'paymentStatus' in ('paid', 'partially-refunded') and o.data ->> 'status' <> 'cancelled'
      group by 1
    )
    select c.position, c.data || jsonb_build_object(
      'ordersCount', coalesce(b.orders, 0), 'totalSpent', ${roundToCents(sql`coalesce(b.spent, 0)`)}::text,
      'firstOrderAt', b.first_at, 'lastOrderAt', b.last_at) as customer
    from walked c left join bought b on b.id = c.id order by c.position`.execute(shop.db)
  const page = rows.slice(0, query.limit)
  return {
    customers: page.map((row) => row.customer),
    next: rows.length > query.limit ? String(page.at(-1)!.position) : null,
  }
}

const pageSize = 100

/** Orders changed at or after `updatedSince`, oldest change first. `cursor` continues after the previous page. */
export async function listOrders(
  shop: Shop,
  query: { updatedSince: Date; cursor?: string },
): Promise<{ orders: PlatformOrder[]; next: string | null }> {
  const { objects, next } = await listChanges<PlatformOrder>(shop, 'order', query)
  return { orders: objects, next }
}

/** Like `listOrders`, but for carts. */
export async function listCarts(
  shop: Shop,
  query: { updatedSince: Date; cursor?: string },
): Promise<{ carts: Cart[]; next: string | null }> {
  const { objects, next } = await listChanges<Cart>(shop, 'cart', query)
  return { carts: objects, next }
}

async function listChanges<T>(
  shop: Shop,
  kind: ObjectKind,
  query: { updatedSince: Date; cursor?: string },
): Promise<{ objects: T[]; next: string | null }> {
  const [at, id] = query.cursor === undefined ? [null, null] : readCursor(query.cursor)
  const place =
    at === null
      ? sql`updated_at >= ${query.updatedSince.toISOString()}::timestamptz`
      : sql`(updated_at, id) > (${at}::timestamptz, ${id}::text)`
  const { rows } = await sql<{ id: string; data: T; updated_at: Date }>`
    select id, data, updated_at from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = ${kind} and ${place}
    order by updated_at, id limit ${pageSize + 1}`.execute(shop.db)
  const page = rows.slice(0, pageSize)
  const last = page.at(-1)
  return {
    objects: page.map((row) => row.data),
    next: rows.length > pageSize && last ? writeCursor(last) : null,
  }
}

const writeCursor = (row: { id: string; updated_at: Date }): string =>
  Buffer.from(`${row.updated_at.toISOString()} ${row.id}`).toString('base64url')

function readCursor(cursor: string): [string, string] {
  const [, at, id] = /^(\S{24}) (.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (!at || !id || Number.isNaN(Date.parse(at))) {
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
  }
  return [at, id]
}

export async function findOrder(
  shop: Shop,
  query: { id: string } | { number: string },
): Promise<PlatformOrder | null> {
  const condition = 'id' in query ? sql`id = ${query.id}` : sql`data ->> 'number' = ${query.number}`
  const { rows } = await sql<{ order: PlatformOrder }>`
    select data as "order" from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = 'order' and ${condition} limit 1`.execute(shop.db)
  return rows[0]?.order ?? null
}
