/** Fills the database of the settings, which has no store yet, with rows from elsewhere. */
import { distribute, requireNoServers } from '#db/citus/distribute'
import { readTopology } from '#db/citus/topology'
import { fill, requireNoStores } from '#db/copy/fill'
import type { Source } from '#db/copy/source'
import type { Database } from '#db/database'
import { migrateTo, NewerDatabase } from '#db/migrate'
import { SettingsError } from '#db/settings-error'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { openDatabase } from '#runtime/server/app'
import { findTextIssues } from '#runtime/server/preflight'
import type { Settings } from '#runtime/server/settings'
import { migrateDatabase } from '#runtime/server/startup-errors'
import { printLine, type Terminal } from '#scripts/cli/terminal'
import { reportRows } from './rows.ts'

/**
 * Fills the database of the settings, which must have no store. `prepare` runs once the place is known to be free. The row counts and checksums of all tables are compared
 * before the commit. Then the database is migrated, and on a cluster distributed.
 */
export async function fillDatabase(
  terminal: Terminal,
  settings: Settings,
  source: Source,
  prepare = async (): Promise<void> => {},
): Promise<void> {
  const { jobs } = await loadRegistry()
  const { database, close } = await openDatabase(settings, undefined, 'merchant-restore')
  try {
    await requireFree(database, settings)
    await prepare()
    await withOldTables(() => migrateTo(database.longRunning, source.migrations))
    const queue = await openQueue(database, jobs, machineClock(), {
      supervise: false,
      onError: (error) => printLine(terminal.err, error.message),
    })
    await queue.stop()
    await reportRows(terminal.err, source.tables, (told) => fill(database, source, told))
    await migrateDatabase(settings, database.longRunning)
    if ((await readTopology(database))?.isDistributed === false) await distribute(database)
  } finally {
    await close()
  }
}

async function requireFree(database: Database, { dataDir }: Settings): Promise<void> {
  if (database.kind === 'postgres') await requireNoServers(database)
  else if (!database.pglite) {
    throw new SettingsError(`DATA_DIR: a server runs on ${dataDir}: stop it first, or name another folder`)
  }
  if ((await readTopology(database))?.isDistributed) {
    throw new Error(
      'The tables of this cluster are distributed already: name a database where npm run migrate has not been; rows are distributed once they are there',
    )
  }
  const [issue] = await findTextIssues(database)
  if (issue) throw new SettingsError(issue.message)
  await requireNoStores(database)
}

async function withOldTables(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof NewerDatabase ? new SettingsError(error.message) : error
  }
}
