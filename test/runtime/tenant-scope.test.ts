/** Tenant isolation: handlers cannot see, change or create another store's rows. */
import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { TenantTables } from '#db/tables'
import { TenantScope, TenantScopeError } from '#db/tenant-scope'
import { prepared } from '#runtime/database/query'
import { newId } from '#runtime/values/ids'
import { freshDatabase, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const now = app.clock.now()
const optOut = (phone: string) => ({
  id: newId(now.getTime()),
  phone,
  phone_key: phone,
  source: 'manual',
  created_at: now,
  updated_at: now,
})

async function twoShops() {
  const [mine, theirs] = [await store(app), await store(app)]
  const [ctx, other] = [await mine.context(), await theirs.context()]
  await ctx.db.insertInto('opt_outs').values(optOut('+1')).execute()
  await other.db
    .insertInto('opt_outs')
    .values([optOut('+2'), optOut('+3')])
    .execute()
  return { mine, theirs, ctx, other }
}

describe('reads', () => {
  test('tables, joins, subqueries, CTEs and raw conditions are scoped', async () => {
    const { ctx } = await twoShops()
    expect(await ctx.db.selectFrom('opt_outs').select('phone').execute()).toEqual([{ phone: '+1' }])
    const raw = await ctx.db
      .selectFrom('opt_outs')
      .select('phone')
      .where(sql<boolean>`true or true`)
      .execute()
    expect(raw).toHaveLength(1)
    const joined = await ctx.db
      .selectFrom('stores as s')
      .leftJoin('opt_outs as o', (join) => join.on(sql<boolean>`true or s.id is null`))
      .select('o.phone')
      .execute()
    expect(joined).toEqual([{ phone: '+1' }])
    const nested = await ctx.db
      .with('all_of_them', (db) => db.selectFrom('opt_outs').select('phone'))
      .selectFrom('all_of_them')
      .select((eb) => [
        eb.fn.countAll<number>().as('n'),
        eb.selectFrom('opt_outs').select('phone').limit(1).as('one'),
      ])
      .execute()
    expect(nested).toEqual([{ n: 1, one: '+1' }])
    const union = await ctx.db
      .selectFrom('opt_outs')
      .select('phone')
      .unionAll((eb) => eb.selectFrom('opt_outs').select('phone'))
      .execute()
    expect(union).toHaveLength(2)
  })

  test('the stores table shows one store', async () => {
    const { ctx, mine } = await twoShops()
    expect(await ctx.db.selectFrom('stores').select('id').execute()).toEqual([{ id: mine.id }])
  })

  test('a compiled query takes the store of its context', async () => {
    const { ctx, other } = await twoShops()
    const phones = prepared((db, values: { not: string }) =>
      db.selectFrom('opt_outs').select('phone').where('phone', '!=', values.not).orderBy('phone'),
    )
    expect(await phones(ctx, { not: 'x' })).toEqual([{ phone: '+1' }])
    expect(await phones(other, { not: '+2' })).toEqual([{ phone: '+3' }])
  })
})

describe('writes', () => {
  test('updates and deletes without a condition touch one store', async () => {
    const { ctx, other } = await twoShops()
    await ctx.db.updateTable('opt_outs').set({ note: 'mine' }).execute()
    await ctx.db.deleteFrom('opt_outs').where(sql<boolean>`false or true`).execute()
    expect(
      await other.db.selectFrom('opt_outs').select(['phone', 'note']).orderBy('phone').execute(),
    ).toEqual([
      { phone: '+2', note: null },
      { phone: '+3', note: null },
    ])
    expect(await ctx.db.selectFrom('opt_outs').select('id').execute()).toEqual([])
  })

  test('INSERT … SELECT copies into the own store, from the own store', async () => {
    const { ctx, other } = await twoShops()
    await ctx.db
      .insertInto('contact_windows')
      .columns(['phone_key', 'last_inbound_at'])
      .expression((eb) => eb.selectFrom('opt_outs').select(['phone_key', 'created_at']))
      .execute()
    expect(await ctx.db.selectFrom('contact_windows').select('phone_key').execute()).toEqual([
      { phone_key: '+1' },
    ])
    expect(await other.db.selectFrom('contact_windows').select('phone_key').execute()).toEqual([])
  })
})

test('a conflict with a row of another store leaves that row unchanged', async () => {
  const { ctx, other } = await twoShops()
  const bind = (db: Kysely<TenantTables>, name: string) =>
    db
      .insertInto('chat_agent_bindings')
      .values({ phone_key: '+7', phone: '+7', name, user_id: newId(1), paired_at: now })
      .onConflict((conflict) => conflict.column('phone_key').doUpdateSet({ name }))
      .execute()
  // A cluster has no unique key over all stores.
  if (await app.database.isDistributed()) return
  await bind(other.db, 'Theirs')
  await bind(ctx.db, 'Mine')
  const nameOf = (db: Kysely<TenantTables>) => db.selectFrom('chat_agent_bindings').select('name').execute()
  expect([await nameOf(ctx.db), await nameOf(other.db)]).toEqual([[], [{ name: 'Theirs' }]])
  await bind(other.db, 'Again')
  expect(await nameOf(other.db)).toEqual([{ name: 'Again' }])
})

test('a statement that violates isolation is refused before it runs', async () => {
  const { database } = await freshDatabase()
  const db = database.root.withPlugin(new TenantScope(newId(1))) as unknown as Kysely<TenantTables>
  const loose = db as unknown as Kysely<Record<string, Record<string, unknown>>>
  const attempts = [
    () => loose.selectFrom('users').selectAll().compile(),
    () => loose.selectFrom('pgboss.job').selectAll().compile(),
    () => loose.selectFrom('opt_outs').innerJoin('users', 'users.id', 'opt_outs.id').selectAll().compile(),
    () =>
      loose
        .selectFrom('opt_outs')
        .rightJoin('campaigns', 'campaigns.id', 'opt_outs.id')
        .selectAll()
        .compile(),
    () => sql`select * from opt_outs`.compile(db),
    () => sql`delete from "opt_outs"`.compile(db),
    () => sql`select 1 from ${sql.table('opt_outs')}`.compile(db),
    () => sql`select 1 from ${sql.raw('opt_outs')}`.compile(db),
    () => sql`select 1 from ${sql.id('opt_outs')}`.compile(db),
    () => sql`select 1 from public.opt_outs`.compile(db),
    () => sql`insert into opt_outs (id) select 1`.compile(db),
    () => sql`select 1 from unnest(array[1]) x, opt_outs o`.compile(db),
    () => sql`select 1 from unnest(${[1]}::int[]) x, "opt_outs"`.compile(db),
    () => sql`select 1 from (opt_outs o join campaigns c on true)`.compile(db),
    () => db.selectFrom(sql`opt_outs`.as('o')).selectAll().compile(),
    () =>
      loose
        .selectFrom(loose.selectFrom('stores').select('id').as('s'))
        .fullJoin('opt_outs as o', (join) => join.on('o.store_id', '=', newId(1)))
        .selectAll()
        .compile(),
    () =>
      loose
        .selectFrom('opt_outs as o')
        .rightJoin(loose.selectFrom('stores').select('id').as('s'), 's.id', 'o.id')
        .selectAll()
        .compile(),
    () => loose.updateTable('opt_outs').set('store_id', newId(2)).compile(),
    () =>
      loose
        .insertInto('opt_outs')
        .values({ id: newId(3) })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ store_id: newId(2) }))
        .compile(),
    () => db.selectFrom(sql`(select * from users)`.as('u')).selectAll().compile(),
    () =>
      loose
        .insertInto('opt_outs')
        .values({ store_id: newId(2), id: newId(3) })
        .compile(),
    () =>
      loose
        .insertInto('stores')
        .values({ id: newId(2) })
        .compile(),
    () =>
      loose
        .updateTable('opt_outs')
        .set({ store_id: newId(2) })
        .compile(),
    () => loose.insertInto('rate_counters').values({ key: 'x' }).compile(),
    () =>
      loose
        .mergeInto('opt_outs')
        .using('campaigns', 'campaigns.id', 'opt_outs.id')
        .whenMatched()
        .thenDelete()
        .compile(),
  ]
  for (const attempt of attempts) expect(attempt, String(attempt)).toThrow(TenantScopeError)
  // Columns and texts may have the name of a table.
  for (const expression of [
    sql`opt_outs.note = 'opt_outs'`,
    sql`coalesce(o.opt_outs, 'from opt_outs')`,
    sql`json_to_recordset(${'[]'}::json) as r(id uuid, opt_outs int)`,
    sql`extract(epoch from opt_outs.created_at), opt_outs.note`,
  ])
    expect(expression.compile(db).sql).toContain('opt_outs')
  await database.close()
})
