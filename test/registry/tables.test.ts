/**
 * Rules of CONTRIBUTING for tables and operations, checked against the database's catalog: tenant keys and deletion
 * with the store.
 */
import { describe, expect, test } from 'vitest'
import { indexDefinitions } from '#db/lookup-index/definitions'
import { placements } from '#db/tables'
import { testApp, wholeRegistry } from '#test/support/app'

const app = await testApp()
const { operations } = await wholeRegistry()
const ask = <Row>(text: string): Promise<Row[]> => app.database.query<Row>(text, [])

const ofStores = Object.entries(placements).flatMap(([table, place]) => (place === 'store_id' ? table : []))

/** Keys that are unique across stores, and why they reveal nothing about other stores. */
const sole: Readonly<Record<string, string>> = {
  messaging_buttons_id_key: 'an id, made by us',
  payments_provider_provider_payment_id_key: 'an id of the billing provider, told by its hooks alone',
}

describe('tables', () => {
  test('each table is in db/tables.ts, which the tenant scope uses, and in the database', async () => {
    const found = await ask<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE' and table_name !~ '^(kysely_|citus)'`,
    )
    expect(
      found.map(({ name }) => name).filter((name) => !(name in placements) && !name.startsWith('sandbox_')),
    ).toEqual([])
  })

  test('the primary key of a tenant table starts with store_id, and each unique key contains it', async () => {
    const known = Object.values(indexDefinitions).flatMap((lists) =>
      lists.flatMap(({ unique }) => unique ?? []),
    )
    const keys = await ask<{ table: string; name: string; primary: boolean; columns: string[] }>(
      `select c.relname as table, x.relname as name, i.indisprimary as primary,
         array(select coalesce(a.attname::text, '(expression)') from unnest(i.indkey) with ordinality k(n, at)
           left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n order by k.at) as columns
       from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
       where i.indisunique and c.relnamespace = 'public'::regnamespace`,
    )
    const faults = keys
      .filter(({ table }) => ofStores.includes(table))
      .filter(({ primary, columns }) => (primary ? columns[0] !== 'store_id' : !columns.includes('store_id')))
      .map(({ name }) => name)
    expect(
      faults.filter((name) => !known.includes(name) && !(name in sole)),
      'write store_id first into the key: another store’s row would be in the way, and no cluster can keep the table',
    ).toEqual([])
  })

  test('a tenant table is deleted with its store by a cascading foreign key', async () => {
    const kept = await ask<{ name: string }>(
      `select distinct c.relname as name from pg_constraint k join pg_class c on c.oid = k.conrelid
       where k.contype = 'f' and k.confdeltype = 'c'
         and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'store_id' and a.attnum = any(k.conkey))`,
    )
    const names = kept.map(({ name }) => name)
    const views = (
      await ask<{ name: string }>(
        `select table_name as name from information_schema.views where table_schema = 'public'`,
      )
    ).map(({ name }) => name)
    expect(
      ofStores.filter((table) => !names.includes(table) && !views.includes(table)),
      'write `store_id uuid not null references stores on delete cascade`',
    ).toEqual([])
  })
})

/** Operations without a feature in sections with features, with the reason. */
const inEveryPlan: Readonly<Record<string, string>> = {
  get_chat_agent_bindings: 'whose phones are paired has to be seen once the plan is smaller',
  delete_chat_agent_bindings_by_phone: 'and parted',
}

describe('operations', () => {
  test('operations require a scope, with exceptions', () => {
    const open = operations.filter(
      ({ section, spec }) => spec.scopes.length === 0 && section.title !== 'Discovery',
    )
    expect(
      open.map(({ id }) => id),
      'a read asks for platform:read, a write for platform:write',
    ).toEqual([])
  })

  test('operations belong to a feature if their section has any', () => {
    const sells = new Set(operations.flatMap(({ section, spec }) => (spec.feature ? section.title : [])))
    const free = operations.filter(({ section, spec }) => !spec.feature && sells.has(section.title))
    expect(
      free.map(({ id }) => id).sort(),
      'say `feature`, as the neighbours do: plans without it would have the operation',
    ).toEqual(Object.keys(inEveryPlan).sort())
  })
})
