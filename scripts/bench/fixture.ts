/** What the servers are measured on: a store for each operation, filled, and the statements the gateway runs. */
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { newId, randomSecret, sha256 } from '#runtime/values/ids'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import type { Fixture, Shop } from './kinds.ts'
import { phoneAt } from './phones.ts'
import { recordStatements } from './statements.ts'
import { peersTables } from './targets/fastify-guards.ts'

const optOuts = 300
const lists = 20
/** Of each of 500 stores in turn: each then comes every few seconds, longer than anybody remembers it. */
const coldKeys = 16

export interface FixtureOptions {
  clients: number
  stores: number
  /** How often a limit is used up. */
  limited: number
  /** Requests a minute that a key may send. */
  limit: number
}

/** Migrates an empty database, fills it and records what the gateway runs for each operation. */
export async function makeFixture(
  databaseUrl: string,
  folder: string,
  { clients, stores, limited, limit }: FixtureOptions,
): Promise<Fixture> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: madeAtOnce })
  try {
    await migrate(database)
    await waitForDisk(database, false)
    const shops = await openShops(database, 'bench', 1, stores)
    await database.query('create table bench_made as select id from opt_outs', [])
    for (const text of peersTables) await database.query(text, [])
    const fixture: Fixture = {
      databaseUrl,
      folder,
      clients,
      shops,
      limited: await openShops(database, 'limited', 2, limited),
      limit,
      statements: {},
      countsStatements: await countStatements(database),
    }
    await waitForDisk(database, true)
    await database.query('vacuum analyze', [])
    fixture.statements = await recordStatements(fixture)
    return fixture
  } finally {
    await database.close()
  }
}

/** Deletes what writes have left and writes that out, so that each measurement begins alike. */
export async function emptyWritten({ databaseUrl }: Fixture): Promise<void> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 1 })
  try {
    await database.query('delete from opt_outs where id not in (select id from bench_made)', [])
    await database.query('truncate idempotency_keys, bench_idempotency', [])
    await database.query('vacuum opt_outs', [])
    await database.query('vacuum contact_lists', [])
    await database.query('checkpoint', [])
  } finally {
    await database.close()
  }
}

/** Whether a commit waits for the disk: thousands of small ones need not while all of it is made. */
async function waitForDisk(database: Database, waits: boolean): Promise<void> {
  await database.query(`alter system set synchronous_commit = ${waits ? 'on' : 'off'}`, [])
  await database.query('select pg_reload_conf()', [])
}

/** Stores with what is read and written in them; `net` tells their addresses from others. */
export async function openShops(
  database: Database,
  name: string,
  net: number,
  count: number,
): Promise<Shop[]> {
  const shops: Shop[] = []
  while (shops.length < count) {
    const places = Array.from(
      { length: Math.min(madeAtOnce, count - shops.length) },
      (_, n) => shops.length + n,
    )
    shops.push(
      ...(await Promise.all(
        places.map((at) => openShop(database, `${name}-${at}`, `10.${net}.${at >> 8}.${at & 255}`)),
      )),
    )
  }
  return shops
}
const madeAtOnce = 4

/** Whether PostgreSQL counts from now on; its packages bring the extension, other builds may not. */
async function countStatements(database: Database): Promise<boolean> {
  const [row] = await database.query<{ there: boolean }>(
    `select current_setting('shared_preload_libraries') ~ 'pg_stat_statements' as there`,
    [],
  )
  if (row!.there) await database.query('create extension pg_stat_statements', [])
  return row!.there
}

async function openShop(database: Database, slug: string, address: string): Promise<Shop> {
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
  const keyWith = (scopes: string[]) => createKey(database, now, { storeId, member: owner, scopes })
  const reading = await keyWith(['platform:read'])
  await addOptOuts(database, storeId)
  return {
    storeId,
    address,
    key: (await keyWith(['platform:read', 'platform:write'])).key,
    readingKey: reading.key,
    coldKeys: await addKeysLike(database, storeId, reading.id),
    listId: (await addLists(database, storeId))[0]!,
  }
}

/** Of thousands one by one would be most of what it takes to make all this. */
async function addKeysLike(database: Database, storeId: string, id: string): Promise<string[]> {
  const now = new Date()
  const keys = Array.from({ length: coldKeys }, () => `mk_live_${randomSecret()}`)
  await database.query(
    `insert into api_keys (store_id, id, user_id, name, hash, prefix, scopes, environment, created_at, updated_at)
     select l.store_id, k.id, l.user_id, l.name, k.hash, k.prefix, l.scopes, l.environment, l.created_at, l.updated_at
     from api_keys l, unnest($3::uuid[], $4::text[], $5::text[]) as k(id, hash, prefix)
     where l.store_id = $1 and l.id = $2`,
    [
      storeId,
      id,
      keys.map(() => newId(now.getTime())),
      keys.map((key) => sha256(key)),
      keys.map((key) => key.slice(0, 12)),
    ],
  )
  return keys
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
