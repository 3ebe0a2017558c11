/** Runs the migrations of our tables. Several machines may do that at the same time. */
import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { distribute } from './citus/distribute.ts'
import { readTopology } from './citus/topology.ts'
import type { Database } from './database.ts'

/** The database has a migration that this code does not know. */
export class NewerDatabase extends Error {
  override name = 'NewerDatabase'
}

/**
 * The last migration of the previous release. Later migrations keep what that release needs, so its code runs on the
 * tables of this one: in a rolling upgrade, and after a rollback. Set when a release is made.
 */
export const previousRelease = '0047-directory'
/** Names the row of `server_settings` with the last migration of the oldest code that runs on the tables. */
const oldestCode = 'oldest-code'

const folder = new URL('./migrations/', import.meta.url)

async function migrationNames(): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort()
  return files.map((file) => file.slice(0, -3))
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = await migrationNames()
  const loaded = await Promise.all(
    names.map(async (name) => [name, await import(new URL(`${name}.ts`, folder).href)] as const),
  )
  return Object.fromEntries(loaded)
}

/**
 * Runs pending migrations and returns their names; none if this is the previous release's code, which runs on the tables
 * of the next. Throws `NewerDatabase` if the code is older, or the error of a migration.
 */
export async function migrate(database: Database): Promise<string[]> {
  // Checked first, since usually nothing is pending, and Kysely's migrator reads all files, tables and columns.
  const [wanted, ran] = await Promise.all([migrationNames(), findAppliedMigrations(database)])
  if (wanted.length === ran.size && wanted.every((name) => ran.has(name))) return []
  const newest = findNewest(wanted, ran)
  if (newest !== null) {
    if (wanted.every((name) => ran.has(name)) && (await isSupported(database, wanted.at(-1)!))) return []
    throw new NewerDatabase(describeNewerDatabase(newest))
  }
  const names = await runMigrations(database, readMigrations, previousRelease)
  await distributeNew(database)
  return names
}

/** The newest applied migration that this code does not know; null if it knows all. */
const findNewest = (known: readonly string[], applied: Set<string>): string | null =>
  [...applied]
    .filter((name) => !known.includes(name))
    .toSorted()
    .at(-1) ?? null

/** Whether the database is of a later release; then the name of its newest migration, otherwise null. */
export const findNewerMigration = async (database: Database): Promise<string | null> =>
  findNewest(await migrationNames(), await findAppliedMigrations(database))

async function isSupported(database: Database, last: string): Promise<boolean> {
  const [row] = await database.query<{ value: string }>('select value from server_settings where name = $1', [
    oldestCode,
  ])
  return row !== undefined && last >= row.value
}

/**
 * Runs exactly these migrations, before rows of a backup are restored that was made with them. Throws `NewerDatabase`
 * for an unknown migration, and an error if the database has others.
 */
export async function migrateTo(database: Database, names: readonly string[]): Promise<void> {
  const [wanted, ran] = await Promise.all([migrationNames(), findAppliedMigrations(database)])
  const unknown = names.filter((name) => !wanted.includes(name))
  if (unknown.length > 0) throw new NewerDatabase(describeNewerDatabase(unknown.at(-1)!))
  if ([...ran].some((name) => !names.includes(name))) {
    throw new Error(
      'This database has tables of a later version than the rows that it should get: name an empty one',
    )
  }
  const all = await readMigrations()
  const some = Object.fromEntries(names.map((name) => [name, all[name]!]))
  await runMigrations(database, async () => some)
}

/** The key of the advisory lock: any number that nobody else uses. */
const migrationLock = 7_290_001

/**
 * Runs all pending migrations in one transaction, one process at a time. Our own advisory lock ends with the
 * transaction. Kysely's lock is bound to a session and is not used, since our statements may run on any connection.
 * `oldest` is recorded as the last migration of the oldest code that still runs on the tables.
 */
function runMigrations(
  database: Database,
  getMigrations: () => Promise<Record<string, Migration>>,
  oldest?: string,
): Promise<string[]> {
  // Overrides the database's default: after waiting for the lock, the transaction must see what was committed
  // meanwhile.
  const begin = database.root.transaction().setIsolationLevel('read committed')
  return begin.execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db)
    // Creates the migrator's tables as it does itself. Without the permission, the migrator would ignore the error and
    // fail later with another one.
    await sql`create table if not exists kysely_migration
      (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(db)
    await sql`create table if not exists kysely_migration_lock
      (id varchar(255) not null primary key, is_locked integer not null default 0)`.execute(db)
    await sql`insert into kysely_migration_lock (id) values ('migration_lock') on conflict do nothing`.execute(
      db,
    )
    const { error, results = [] } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()
    if (error) throw error
    if (oldest !== undefined) {
      await sql`insert into server_settings (name, value) values (${oldestCode}, to_jsonb(${oldest}::text))
        on conflict (name) do update set value = excluded.value`.execute(db)
    }
    return results.map(({ migrationName }) => migrationName)
  })
}

const describeNewerDatabase = (name: string): string =>
  `The database is newer than this code, which does not know its migration ${name}: start the version that made it, or a later one`

/**
 * On a cluster, distributes all tables of a new database, or the new tables of a database that is distributed already.
 */
async function distributeNew(database: Database): Promise<void> {
  const topology = await readTopology(database)
  if (!topology || (topology.missing.length === 0 && !topology.isUnfinished)) return
  const stores = await database.root.selectFrom('stores').select('id').limit(1).execute()
  // Tables with rows are distributed on request only, since writes wait while they are.
  if (topology.isDistributed || stores.length === 0) await distribute(database)
}

/** Whether no migration is pending, for readiness. */
export async function isMigrated(database: Database): Promise<boolean> {
  const [wanted, ran] = await Promise.all([migrationNames(), findAppliedMigrations(database)])
  return wanted.every((name) => ran.has(name)) && !(await isHalfDistributed(database))
}

/** Whether the distribution is unfinished: queries would then find nothing, so the server is not ready. */
async function isHalfDistributed(database: Database): Promise<boolean> {
  if (!(await database.isDistributed())) return false
  return (await readTopology(database))?.isUnfinished === true
}

/** The names of the applied migrations. */
export async function findAppliedMigrations(database: Database): Promise<Set<string>> {
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('kysely_migration') is not null as there`,
    [],
  )
  if (!table!.there) return new Set()
  const rows = await database.query<{ name: string }>('select name from kysely_migration', [])
  return new Set(rows.map(({ name }) => name))
}
