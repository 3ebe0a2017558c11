/** What the servers are measured on: a store for each operation, filled, and the statements the gateway runs. */
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { newId } from '#runtime/values/ids'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import type { Fixture, OperationName, Shop } from './kinds.ts'
import { phoneAt } from './phones.ts'
import { recordStatements } from './statements.ts'

/** The planner must meet what it meets in production: a store is one of many in a table. */
const neighbours = 30
const optOuts = 3000
const lists = 100

/** Migrates an empty database, fills it and records what the gateway runs for each operation. */
export async function makeFixture(
  databaseUrl: string,
  folder: string,
  clients: number,
  names: readonly OperationName[],
): Promise<Fixture> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 2 })
  try {
    await migrate(database)
    const writer = ['platform:read', 'platform:write']
    const shops = {
      read: await openShop(database, 'bench-read', writer),
      list: await openShop(database, 'bench-list', writer),
      create: await openShop(database, 'bench-create', writer),
      forbidden: await openShop(database, 'bench-forbidden', ['platform:read']),
    }
    const listIds = await addLists(database, shops.read.storeId)
    await addOptOuts(database, shops.list.storeId)
    for (let i = 1; i <= neighbours; i += 1) {
      const { storeId } = await openShop(database, `bench-neighbour-${i}`, writer)
      await addLists(database, storeId)
      await addOptOuts(database, storeId)
    }
    await database.query('vacuum analyze', [])
    const fixture: Fixture = { databaseUrl, folder, clients, shops, listIds, statements: {} }
    fixture.statements = await recordStatements(fixture, names)
    return fixture
  } finally {
    await database.close()
  }
}

/** Deletes what `create` has written and writes that out, so that each measurement of it begins alike. */
export async function emptyCreated({ databaseUrl, shops }: Fixture): Promise<void> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 1 })
  try {
    await database.query('delete from opt_outs where store_id = $1', [shops.create.storeId])
    await database.query('vacuum opt_outs', [])
    await database.query('checkpoint', [])
  } finally {
    await database.close()
  }
}

async function openShop(database: Database, slug: string, scopes: string[]): Promise<Shop> {
  const now = new Date()
  const owner = `${slug}@example.com`
  const place = { country: 'BR', currency: 'BRL', timezone: 'America/Sao_Paulo' }
  const { id } = await createStore(database, now, { slug, name: slug, owner, plan: 'scale', ...place })
  const { key } = await createKey(database, now, { storeId: id, member: owner, scopes })
  return { storeId: id, key }
}

async function addOptOuts(database: Database, storeId: string): Promise<void> {
  const now = new Date()
  const phones = Array.from({ length: optOuts }, (_, index) => phoneAt(index))
  await database.query(
    `insert into opt_outs (store_id, id, phone, phone_key, note, source, created_at, updated_at)
     select $1, id, phone, phone, 'Asked at the counter', 'manual', $4, $4
     from unnest($2::uuid[], $3::text[]) as seed(id, phone)`,
    [storeId, phones.map(() => newId(now.getTime())), phones, now],
  )
}

/** Answers their ids. */
async function addLists(database: Database, storeId: string): Promise<string[]> {
  const now = new Date()
  const ids = Array.from({ length: lists }, () => newId(now.getTime()))
  await database.query(
    `insert into contact_lists (store_id, id, name, source, custom_field_names, created_at, updated_at)
     select $1, id, name, 'manual', '{city,birthday}', $4, $4
     from unnest($2::uuid[], $3::text[]) as seed(id, name)`,
    [storeId, ids, ids.map((_, index) => `List ${index + 1}`), now],
  )
  return ids
}
