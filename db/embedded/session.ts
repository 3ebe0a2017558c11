/** Opens PGlite itself, which is one session of PostgreSQL. */
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { makePrivate } from '../private-folder.ts'
import { emptyDatabase, hasDatabase, makeDatabase } from './making.ts'
import { PreparingPglite } from './pglite.ts'

/** Values arrive as from our other driver: bigint as number, date as text, numeric as text, instants as Date. */
const parsers = {
  20: (value: string) => Number(value),
  1082: (value: string) => value,
  1700: (value: string) => value,
}

/**
 * PostgreSQL fills its buffers with zeros as it starts: with the 128 MB it would take, that is most of the time of an
 * opening. What they do not hold lies in the system's own cache. The time zone is not left to who made the database.
 */
const startSettings = [
  ...['-c', 'shared_buffers=16MB', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC'],
  // Of the 2 MB that it takes for given JavaScript's stack has room for a tenth: beyond it all would be lost.
  ...['-c', 'max_stack_depth=100kB'],
]

/**
 * `dataDir`: a folder, or `memory://`; `snapshot`: a dump to start from. A folder without a database gets an empty one as
 * its makers publish it, in a fifth of the time that `initdb` takes.
 */
export async function openSession(dataDir: string, snapshot?: Blob): Promise<PreparingPglite> {
  const isInMemory = dataDir.startsWith('memory:')
  if (!isInMemory) {
    if (!snapshot && !hasDatabase(dataDir)) await makeDatabase(dataDir)
    makePrivate(dataDir)
  }
  const start = snapshot ?? (isInMemory ? await emptyDatabase() : undefined)
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
