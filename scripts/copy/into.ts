/** Fills the database of the settings, which has no store yet, with rows from elsewhere. */
import { distribute, requireAlone } from '#db/citus/distribute'
import { standingOf } from '#db/citus/standing'
import { fill, requireNoStores } from '#db/copy/fill'
import type { Source } from '#db/copy/source'
import type { Database } from '#db/database'
import { migrateTo, NewerDatabase } from '#db/migrate'
import { SettingsError } from '#db/settings-error'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { openDatabase } from '#runtime/server/app'
import { migrated } from '#runtime/server/mendable'
import type { Settings } from '#runtime/server/settings'
import { line, type Terminal } from '#scripts/cli/terminal'
import { tellingRows } from './rows.ts'

/** Counts and sums of every table are compared before it is kept; then it is brought up to date, and a cluster's distributed. */
export async function fillDatabase(terminal: Terminal, settings: Settings, source: Source): Promise<void> {
  const { jobs } = await loadRegistry()
  const { database, close } = await openDatabase(settings, undefined, 'merchant-restore')
  try {
    await requireFree(database, settings)
    await withOldTables(() => migrateTo(database.patient, source.migrations))
    const queue = await openQueue(database, jobs, machineClock(), {
      supervise: false,
      onError: (error) => line(terminal.err, error.message),
    })
    await queue.stop()
    await tellingRows(terminal.err, source.tables, (told) => fill(database, source, told))
    await migrated(settings, database.patient)
    if ((await standingOf(database))?.isDistributed === false) await distribute(database)
  } finally {
    await close()
  }
}

async function requireFree(database: Database, { dataDir }: Settings): Promise<void> {
  if (database.kind === 'postgres') await requireAlone(database)
  else if (!database.pglite) {
    throw new SettingsError(`DATA_DIR: a server runs on ${dataDir}: stop it first, or name another folder`)
  }
  if ((await standingOf(database))?.isDistributed) {
    throw new Error(
      'The tables of this cluster are distributed already: name a database where npm run migrate has not been; rows are distributed once they are there',
    )
  }
  const [encoding] = await database.query<{ name: string }>(
    `select current_setting('server_encoding') as name`,
    [],
  )
  if (encoding!.name !== 'UTF8') {
    throw new SettingsError(
      `DATABASE_URL: this database is kept in ${encoding!.name}, which has no room for most of the world's letters: make one with encoding UTF8`,
    )
  }
  await requireNoStores(database)
}

async function withOldTables(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof NewerDatabase ? new SettingsError(error.message) : error
  }
}
