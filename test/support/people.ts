/** A store that can send: a QR number, and a list of people with unique phones. */
import { sql } from 'kysely'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { type Shop, store } from './store.ts'

export interface Audience {
  shop: Shop
  listId: string
}

/** `firstPhone`: its last eight digits; each further person's is ten more. */
export async function audience(
  app: TestApp,
  { phone, people, firstPhone }: { phone: string; people: number; firstPhone: number },
): Promise<Audience> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'qr', phone })
  const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'Everybody' } })
  const now = sql<Date>`${ctx.now()}::timestamptz`
  const dialled = sql<string>`'+55119' || (${sql.lit(firstPhone)} + g.n * 10 + 5)`
  await ctx.db
    .insertInto('list_contacts')
    .columns(['id', 'list_id', 'phone', 'phone_key', 'name', 'source', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ n: number }>`generate_series(1, ${sql.lit(people)})`.as(sql`g(n)`))
        .select([
          sql<string>`uuid_v7(${now})`.as('id'),
          sql<string>`${list.body.id}::uuid`.as('list_id'),
          dialled.as('phone'),
          dialled.as('phone_key'),
          sql<string>`'Contact ' || g.n`.as('name'),
          sql<string>`'manual'`.as('source'),
          now.as('created_at'),
          now.as('updated_at'),
        ]),
    )
    .execute()
  await ctx.db.updateTable('contact_lists').set({ size: people }).where('id', '=', list.body.id).execute()
  return { shop, listId: list.body.id }
}
