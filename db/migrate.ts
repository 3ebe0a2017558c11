/** Brings a database up to date: our tables, then the job queue's own. Safe from several machines at once. */
import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { distribute } from './citus/distribute.ts'
import { standingOf } from './citus/standing.ts'
import type { Database } from './database.ts'

/** The database has been brought further than this code knows. */
export class NewerDatabase extends Error {
  override name = 'NewerDatabase'
}

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

/** Runs what has not run yet and answers its names. Throws `NewerDatabase`, and what a migration threw. */
export async function migrate(database: Database): Promise<string[]> {
  // Nearly every start finds them all there. The migrator would read each file, and every column of every table.
  const [wanted, ran] = await Promise.all([migrationNames(), migrationsRun(database)])
  if (wanted.length === ran.size && wanted.every((name) => ran.has(name))) return []
  const unknown = [...ran].filter((name) => !wanted.includes(name))
  if (unknown.length > 0) throw new NewerDatabase(newer(unknown.toSorted().at(-1)!))
  const names = await migrateBy(database, readMigrations)
  await distributeNew(database)
  return names
}

/**
 * Runs exactly those migrations, for rows that come from where no others had run. Throws `NewerDatabase` for one that this
 * code does not know, and a sentence where the database has been brought further than they go.
 */
export async function migrateTo(database: Database, names: readonly string[]): Promise<void> {
  const [wanted, ran] = await Promise.all([migrationNames(), migrationsRun(database)])
  const unknown = names.filter((name) => !wanted.includes(name))
  if (unknown.length > 0) throw new NewerDatabase(newer(unknown.at(-1)!))
  if ([...ran].some((name) => !names.includes(name))) {
    throw new Error(
      'This database has tables of a later version than the rows that it should get: name an empty one',
    )
  }
  const all = await readMigrations()
  const some = Object.fromEntries(names.map((name) => [name, all[name]!]))
  await migrateBy(database, async () => some)
}

/** Of any number that is nobody else's. */
const migrating = 7_290_001

/**
 * All of them or none, one process at a time. The lock goes with the transaction: Kysely's own is one of the session, and
 * a statement of ours may go by any.
 */
function migrateBy(
  database: Database,
  getMigrations: () => Promise<Record<string, Migration>>,
): Promise<string[]> {
  // Whatever the database's default: who waited for the lock sees what was done meanwhile.
  const begin = database.root.transaction().setIsolationLevel('read committed')
  return begin.execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${migrating})`.execute(db)
    // As the migrator makes them, which where it may not looks on in a transaction that has failed: its reason comes first.
    await sql`create table if not exists kysely_migration
      (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(db)
    await sql`create table if not exists kysely_migration_lock
      (id varchar(255) not null primary key, is_locked integer not null default 0)`.execute(db)
    await sql`insert into kysely_migration_lock (id) values ('migration_lock') on conflict do nothing`.execute(
      db,
    )
    const { error, results = [] } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()
    if (error) throw error
    return results.map(({ migrationName }) => migrationName)
  })
}

const newer = (name: string): string =>
  `The database is newer than this code, which does not know its migration ${name}: start the version that made it, or a later one`

/** Where there is a cluster: all tables of a new database, and those that a migration added to a distributed one. */
async function distributeNew(database: Database): Promise<void> {
  const standing = await standingOf(database)
  if (!standing || (standing.missing.length === 0 && !standing.isUnfinished)) return
  const stores = await database.root.selectFrom('stores').select('id').limit(1).execute()
  // What has rows is distributed when somebody says so: writes wait meanwhile.
  if (standing.isDistributed || stores.length === 0) await distribute(database)
}

/** Whether nothing is left to run, for readiness. */
export async function isMigrated(database: Database): Promise<boolean> {
  const [wanted, ran] = await Promise.all([migrationNames(), migrationsRun(database)])
  return wanted.every((name) => ran.has(name)) && !(await isHalfDistributed(database))
}

/** A distribution that was killed: what finds nothing until it is finished is not ready. */
async function isHalfDistributed(database: Database): Promise<boolean> {
  if (!(await database.isDistributed())) return false
  return (await standingOf(database))?.isUnfinished === true
}

/** The names of those that it has had. */
export async function migrationsRun(database: Database): Promise<Set<string>> {
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('kysely_migration') is not null as there`,
    [],
  )
  if (!table!.there) return new Set()
  const rows = await database.query<{ name: string }>('select name from kysely_migration', [])
  return new Set(rows.map(({ name }) => name))
}
