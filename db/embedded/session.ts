/** Opens PGlite itself, which is one session of PostgreSQL. */
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { makePrivateFolder } from '../private-folder.ts'
import { createDatabase, hasDatabase, loadEmptyDatabase } from './create-database.ts'
import { PreparingPglite } from './pglite.ts'

/**
 * Parsers that give values the same types as our PostgreSQL driver: bigint as number, date and numeric as text.
 * Instants are Dates by default.
 */
const parsers = {
  20: (value: string) => Number(value),
  1082: (value: string) => value,
  1700: (value: string) => value,
}

/**
 * PostgreSQL zeroes its buffers at the start, which takes most of the time with the default of 128 MB. A small buffer
 * is enough, since the operating system caches files too. The time zone must not depend on who created the database.
 */
const startSettings = [
  ...['-c', 'shared_buffers=16MB', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC'],
  // The default is 2 MB, but the JavaScript stack has room for only a tenth of that: an overflow would crash PGlite.
  ...['-c', 'max_stack_depth=100kB'],
]

/**
 * Opens a session. `dataDir`: a folder, or `memory://`. `snapshot`: a dump to start from. A folder without a database
 * gets PGlite's prepopulated one, which takes a fifth of the time of `initdb`.
 */
export async function openSession(dataDir: string, snapshot?: Blob): Promise<PreparingPglite> {
  const isInMemory = dataDir.startsWith('memory:')
  if (!isInMemory) {
    if (!snapshot && !hasDatabase(dataDir)) await createDatabase(dataDir)
    makePrivateFolder(dataDir)
  }
  const start = snapshot ?? (isInMemory ? await loadEmptyDatabase() : undefined)
  const session = new PreparingPglite({
    dataDir,
    ...(start ? { loadDataDir: start } : {}),
    parsers,
    startParams: [...PreparingPglite.defaultStartParams, ...startSettings],
    extensions: { btree_gin, pg_trgm },
  })
  await session.waitReady
  return session
}
