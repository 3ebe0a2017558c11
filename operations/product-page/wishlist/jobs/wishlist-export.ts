import { sql } from 'kysely'
import { days, defineExport } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { wishlistExport } from '../../handles.ts'

/** Exports the contacts of wishlists: one row per contact, even if the contact used several browsers. */
export default defineExport(wishlistExport, {
  title: 'Wishlist contacts',
  description: 'Emails the contacts of wishlists as CSV',
  rows: visitors,
  order: [['c.contact_key', 'asc']],
  columns: {
    email: 'c.email',
    phone: 'c.phone',
    name: 'c.name',
    products: 'l.products',
    productCount: 'l.product_count',
    firstAddedAt: 'a.first_added_at',
    lastAddedAt: 'a.last_added_at',
    consent: 'c.consent',
  },
})

/** Selects the contacts. If a contact has several visitors, the values of the latest one take precedence. */
function visitors(ctx: Context, { startDate, endDate }: { startDate?: string; endDate?: string }) {
  const latest = (column: 'email' | 'phone' | 'name') =>
    sql<string | null>`(array_agg(${sql.ref(`v.${column}`)} order by v.updated_at desc, v.visitor_id)
      filter (where ${sql.ref(`v.${column}`)} is not null))[1]`.as(column)
  const contacts = ctx.db
    .selectFrom('wishlist_visitors as v')
    .groupBy('v.contact_key')
    .select([
      'v.contact_key',
      latest('email'),
      latest('phone'),
      latest('name'),
      sql<boolean>`(array_agg(v.consent order by v.updated_at desc, v.visitor_id))[1]`.as('consent'),
    ])
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
  const rows = ctx.db
    .selectFrom(contacts.as('c'))
    .innerJoinLateral(added.as('a'), (join) => join.onTrue())
    .innerJoinLateral(listed.as('l'), (join) => join.onTrue())
  if (startDate === undefined || endDate === undefined) return rows
  const { timezone } = ctx.store
  return rows.where(days.isWithin('a.last_added_at', { startDate, endDate, timezone }))
}
