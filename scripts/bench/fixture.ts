/** What the servers are measured on: a store to read, a store to write to, and the statements the gateway runs. */
import { type Database, openPostgres } from '#db/database'
import { migrate } from '#db/migrate'
import { createKey } from '#operations/store/lib/keys'
import { createStore } from '#operations/store/lib/stores'
import { newId } from '#runtime/ids'
import type { OperationName } from './operations.ts'
import { recordStatements, type Statement } from './statements.ts'

export interface Fixture {
  databaseUrl: string
  /** Where servers may write files. */
  folder: string
  /** Connections of each server, as many as the gateway's DATABASE_READS. */
  clients: number
  /** Read by `read` and `list`. */
  readStoreId: string
  /** Written by `create`; emptied after each measurement, so that all begin alike. */
  writeStoreId: string
  readKey: string
  writeKey: string
  /** Holds platform:read alone. */
  readOnlyKey: string
  listIds: string[]
  statements: Partial<Record<OperationName, Statement>>
}

const optOuts = 3000
const lists = 100
/** Eight digits after the area code and the nine of a Brazilian mobile; below `firstPhone` is the seed's. */
const firstPhone = 10_000_000
let nextPhone = firstPhone

export const phoneAt = (index: number): string => `+55119${String(index).padStart(8, '0')}`
/** A valid Brazilian mobile that no other request has. */
export function unusedPhone(): string {
  nextPhone += 1
  return phoneAt(nextPhone)
}

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
    const reads = await newStore(database, 'bench-reads')
    const writes = await newStore(database, 'bench-writes')
    const listIds = await fill(database, reads.id)
    const fixture: Fixture = {
      databaseUrl,
      folder,
      clients,
      readStoreId: reads.id,
      writeStoreId: writes.id,
      readKey: reads.key,
      writeKey: writes.key,
      readOnlyKey: await keyOf(database, writes.id, 'bench-writes', ['platform:read']),
      listIds,
      statements: {},
    }
    fixture.statements = await recordStatements(fixture, names)
    await emptyWriteStore(fixture)
    await database.script('analyze')
    return fixture
  } finally {
    await database.close()
  }
}

/** Deletes what `create` has written. */
export async function emptyWriteStore(fixture: Fixture): Promise<void> {
  const database = openPostgres(fixture.databaseUrl, { reads: 1, transactions: 1 })
  try {
    await database.query('delete from opt_outs where store_id = $1', [fixture.writeStoreId])
    await database.query('vacuum opt_outs', [])
  } finally {
    await database.close()
  }
}

async function newStore(database: Database, slug: string): Promise<{ id: string; key: string }> {
  const { id } = await createStore(database, new Date(), {
    slug,
    name: slug,
    owner: `${slug}@example.com`,
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
    plan: 'scale',
  })
  return { id, key: await keyOf(database, id, slug, ['platform:read', 'platform:write']) }
}

async function keyOf(database: Database, storeId: string, slug: string, scopes: string[]): Promise<string> {
  const made = await createKey(database, new Date(), { storeId, member: `${slug}@example.com`, scopes })
  return made.key
}

/** Answers the ids of the contact lists. */
async function fill(database: Database, storeId: string): Promise<string[]> {
  const now = new Date()
  const phones = Array.from({ length: optOuts }, (_, index) => phoneAt(index))
  await database.query(
    `insert into opt_outs (store_id, id, phone, phone_key, note, source, created_at, updated_at)
     select $1, id, phone, phone, 'Asked at the counter', 'manual', $4, $4
     from unnest($2::uuid[], $3::text[]) as seed(id, phone)`,
    [storeId, phones.map(() => newId(now.getTime())), phones, now],
  )
  const listIds = Array.from({ length: lists }, () => newId(now.getTime()))
  await database.query(
    `insert into contact_lists (store_id, id, name, source, size, custom_field_names, created_at, updated_at)
     select $1, id, name, 'manual', 0, '{city,birthday}', $4, $4
     from unnest($2::uuid[], $3::text[]) as seed(id, name)`,
    [storeId, listIds, listIds.map((_, index) => `List ${index + 1}`), now],
  )
  return listIds
}
