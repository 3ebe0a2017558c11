/** Contacts of wishlists as CSV: a row for each, however many browsers they left it in. */
import { sql } from 'kysely'
import { days, type exports } from '#operations/store/door'
import type { Context } from '#runtime/context'

const atOnce = 500

interface Query {
  startDate?: string
  endDate?: string
}

export const wishlistExport: exports.ExportSource = {
  title: 'Wishlist contacts',
  columns: () => [
    'email',
    'phone',
    'name',
    'products',
    'productCount',
    'firstAddedAt',
    'lastAddedAt',
    'consent',
  ],
  async *rows(ctx, query) {
    let after: string | null = null
    for (;;) {
      const page = await pageAfter(ctx, query as Query, after)
      yield page.map((row) => [
        row.email,
        row.phone,
        row.name,
        row.products,
        row.product_count,
        row.first_added_at,
        row.last_added_at,
        row.consent,
      ])
      after = page.at(-1)?.contact_key ?? null
      if (page.length < atOnce) return
    }
  },
}

/** By contact; what the latest of its visitors said stands before what the others did. */
function pageAfter(ctx: Context, { startDate, endDate }: Query, after: string | null) {
  const latest = (column: 'email' | 'phone' | 'name') =>
    sql<string | null>`(array_agg(${sql.ref(`v.${column}`)} order by v.updated_at desc, v.visitor_id)
      filter (where ${sql.ref(`v.${column}`)} is not null))[1]`.as(column)
  let contacts = ctx.db
    .selectFrom('wishlist_visitors as v')
    .groupBy('v.contact_key')
    .select([
      'v.contact_key',
      latest('email'),
      latest('phone'),
      latest('name'),
      sql<boolean>`(array_agg(v.consent order by v.updated_at desc, v.visitor_id))[1]`.as('consent'),
    ])
  if (after !== null) contacts = contacts.where('v.contact_key', '>', after)
  const added = ctx.db
    .selectFrom('wishes as w')
    .innerJoin('wishlist_visitors as o', 'o.visitor_id', 'w.visitor_id')
    .whereRef('o.contact_key', '=', sql`c.contact_key`)
    .select([
      sql<Date | null>`min(w.added_at)`.as('first_added_at'),
      sql<Date | null>`max(w.added_at)`.as('last_added_at'),
    ])
  const names = ctx.db
    .selectFrom('wishes as w')
    .innerJoin('wishlist_visitors as o', 'o.visitor_id', 'w.visitor_id')
    .leftJoin('product_snapshots as p', 'p.product_id', 'w.product_id')
    .whereRef('o.contact_key', '=', sql`c.contact_key`)
    .where('w.removed_at', 'is', null)
    .groupBy(['w.product_id', 'p.name'])
    .select([
      sql<string>`coalesce(p.name, w.product_id)`.as('name'),
      sql<Date>`min(w.added_at)`.as('added_at'),
    ])
  const listed = ctx.db
    .selectFrom(names.as('n'))
    .select([
      sql<string | null>`string_agg(n.name, '; ' order by n.added_at, n.name)`.as('products'),
      sql<number>`count(*)::int`.as('product_count'),
    ])
  let rows = ctx.db
    .selectFrom(contacts.as('c'))
    .innerJoinLateral(added.as('a'), (join) => join.onTrue())
    .innerJoinLateral(listed.as('l'), (join) => join.onTrue())
    .selectAll(['c', 'a', 'l'])
  if (startDate !== undefined && endDate !== undefined) {
    const { timezone } = ctx.store
    rows = rows.where(days.isWithin('a.last_added_at', { startDate, endDate, timezone }))
  }
  return rows.orderBy('c.contact_key').limit(atOnce).execute()
}
