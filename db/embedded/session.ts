/** Opens PGlite itself, which is one session of PostgreSQL. */
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { makePrivateFolder } from '../private-folder.ts'
import { createDatabase, hasDatabase, loadEmptyDatabase } from './create-database.ts'
import { PreparingPglite } from './pglite.ts'

/**
 * Values have the same types as in our other driver: bigint as number, date as text, numeric as text, instants as
 * Date.
 */
const parsers = {
  20: (value: string) => Number(value),
  1082: (value: string) => value,
  1700: (value: string) => value,
}

/**
 * PostgreSQL zeroes its buffers at the start: with the default of 128 MB that takes most of the opening. The rest is
 * in the system's own cache. The time zone must not depend on the creator of the database.
 */
const startSettings = [
  ...['-c', 'shared_buffers=16MB', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC'],
  // The JavaScript stack has room for a tenth of the default 2 MB: an overflow would crash the database.
  ...['-c', 'max_stack_depth=100kB'],
]

/**
 * `dataDir`: a folder, or `memory://`; `snapshot`: a dump to start from. A folder without a database gets PGlite's
 * prepopulated one, in a fifth of the time of `initdb`.
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
