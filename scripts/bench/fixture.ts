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

const optOuts = 300
const lists = 20

/** Migrates an empty database, fills it and records what the gateway runs for each operation. */
export async function makeFixture(
  databaseUrl: string,
  folder: string,
  { clients, stores }: { clients: number; stores: number },
  names: readonly OperationName[],
): Promise<Fixture> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 2 })
  try {
    await migrate(database)
    const shops: Shop[] = []
    for (let at = 0; at < stores; at += 1) shops.push(await openShop(database, `bench-${at}`))
    await database.query('create table bench_made as select id from opt_outs', [])
    await database.query('vacuum analyze', [])
    const fixture: Fixture = { databaseUrl, folder, clients, shops, statements: {} }
    fixture.statements = await recordStatements(fixture, names)
    return fixture
  } finally {
    await database.close()
  }
}

/** Deletes what `create` has written and writes that out, so that each measurement of it begins alike. */
export async function emptyCreated({ databaseUrl }: Fixture): Promise<void> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 1 })
  try {
    await database.query('delete from opt_outs where id not in (select id from bench_made)', [])
    await database.query('vacuum opt_outs', [])
    await database.query('checkpoint', [])
  } finally {
    await database.close()
  }
}

async function openShop(database: Database, slug: string): Promise<Shop> {
  const now = new Date()
  const owner = `${slug}@example.com`
  const place = { country: 'BR', currency: 'BRL', timezone: 'America/Sao_Paulo' }
  const { id: storeId } = await createStore(database, now, {
    slug,
    name: slug,
    owner,
    plan: 'scale',
    ...place,
  })
  const keyWith = async (scopes: string[]): Promise<string> =>
    (await createKey(database, now, { storeId, member: owner, scopes })).key
  await addOptOuts(database, storeId)
  return {
    storeId,
    key: await keyWith(['platform:read', 'platform:write']),
    readingKey: await keyWith(['platform:read']),
    listId: (await addLists(database, storeId))[0]!,
  }
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
