/** Environment of the servers: their own PostgreSQL, stores and settings. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { type ThrowawayPostgres, throwawayPostgres } from '#scripts/cli/postgres'
import type { Fixture, Shop } from './operations.ts'

/** Runs a step with its own PostgreSQL server and folder, and deletes both, also when the process is interrupted. */
export async function withThrowaway<T>(
  step: (cluster: ThrowawayPostgres, folder: string) => Promise<T>,
): Promise<T> {
  const cluster = await throwawayPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    return await step(cluster, folder)
  } finally {
    await cluster.stop()
    process.off('exit', remove)
    remove()
  }
}

/** Up to this limit the gateway counts requests one by one, as it does with the default limits. */
const countedOneByOne = 10_000
const storesAtOnce = 4
export const benchSecret = 'a secret key that only the benchmark uses'

/** Opens a store with a key of all scopes. */
export async function openStore(database: Database, slug: string) {
  const now = new Date()
  const owner = `owner@${slug}.example.com`
  const place = { plan: 'scale', country: 'BR', currency: 'BRL', timezone: 'America/Sao_Paulo' }
  const store = await createStore(database, now, { slug, name: slug, owner, ...place })
  const { id: storeId, publicId } = store
  const { key } = await createKey(database, now, { storeId, member: owner, scopes: allScopes })
  return { storeId, publicId, key }
}

/** Migrates an empty database and fills it. */
export async function makeFixture(databaseUrl: string, folder: string, stores: number): Promise<Fixture> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: storesAtOnce })
  try {
    await migrate(database)
    const shops: Shop[] = []
    while (shops.length < stores) {
      const first = shops.length
      const count = Math.min(storesAtOnce, stores - first)
      const numbers = Array.from({ length: count }, (_, n) => first + n)
      shops.push(...(await Promise.all(numbers.map((n) => openShop(database, n)))))
    }
    await database.query('vacuum analyze', [])
    return { databaseUrl, folder, clients: 3, limit: countedOneByOne, shops }
  } finally {
    await database.close()
  }
}

async function openShop(database: Database, n: number): Promise<Shop> {
  const { storeId, key } = await openStore(database, `bench-${n}`)
  await database.query(
    `insert into opt_outs (store_id, id, phone, phone_key, note, source, created_at, updated_at)
     select $1, uuid_v7(now() + n * interval '1 ms'), phone, phone, 'Asked at the counter', 'manual', now(), now()
     from generate_series(0, 299) n, lateral (select '+55119' || lpad(n::text, 8, '0') as phone) p`,
    [storeId],
  )
  const [list] = await database.query<{ id: string }>(
    `insert into contact_lists (store_id, id, name, source, custom_field_names, created_at, updated_at)
     select $1, uuid_v7(now() + n * interval '1 ms'), 'List ' || n, 'manual', '{city,birthday}', now(), now()
     from generate_series(1, 20) n returning id`,
    [storeId],
  )
  return { storeId, address: `10.1.${n >> 8}.${n & 255}`, key, listId: list!.id }
}

/** Deletes created rows, so that every measurement starts with the same rows. */
export async function deleteCreated({ databaseUrl }: Fixture): Promise<void> {
  const database = openPostgres(databaseUrl, { reads: 1, transactions: 1 })
  try {
    await database.query(`delete from opt_outs where phone >= '+5511910000000'`, [])
    await database.query('vacuum opt_outs', [])
    await database.query('checkpoint', [])
  } finally {
    await database.close()
  }
}

export const gatewaySettings = (
  fixture: Pick<Fixture, 'databaseUrl' | 'folder' | 'clients' | 'limit'>,
): Record<string, string> => ({
  DATABASE_URL: fixture.databaseUrl,
  DATA_DIR: fixture.folder,
  DATABASE_READS: String(fixture.clients),
  NODE_ENV: 'production',
  SECRET_KEY: benchSecret,
  RATE_LIMIT_STORE: String(fixture.limit),
  RATE_LIMIT_IP: String(fixture.limit),
  TRUST_PROXY: '1',
  STOREFRONT_READS_IP: '999999999',
  LOG_LEVEL: 'info',
  WORKER: 'off',
  PORT: '0',
})
