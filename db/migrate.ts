/** Brings a database up to date: our tables, then the job queue's own. Safe from several machines at once. */
import { readdir } from 'node:fs/promises'
import { type Migration, Migrator } from 'kysely/migration'
import type { Database } from './database.ts'

const folder = new URL('./migrations/', import.meta.url)

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort()
  const loaded = await Promise.all(
    files.map(async (file) => [file.slice(0, -3), await import(new URL(file, folder).href)] as const),
  )
  return Object.fromEntries(loaded)
}

/** Runs what has not run yet and answers its names. Throws what a migration threw. */
export async function migrate(database: Database): Promise<string[]> {
  const { error, results = [] } = await migrator(database).migrateToLatest()
  if (error) throw error
  return results.map((result) => result.migrationName)
}

/** Whether nothing is left to run, for readiness. */
export async function isMigrated(database: Database): Promise<boolean> {
  return (await migrator(database).getMigrations()).every((migration) => migration.executedAt !== undefined)
}

const migrator = (database: Database): Migrator =>
  new Migrator({ db: database.root, provider: { getMigrations: readMigrations } })
