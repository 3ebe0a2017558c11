/** Migration of a server's database, from several machines and during other statements. */
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Database } from '#db/database'
import { findAppliedMigrations, migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { createDatabase, dropDatabase, withDatabase } from '../support/cluster.ts'

const server = inject('postgresUrl')

/** An empty database, and a way to open it for each machine, through the pooler if there is one. */
async function createEmpty(): Promise<() => Database> {
  const [nodes, name] = [inject('nodes'), `merchant_migrating_${process.pid}`]
  await createDatabase(nodes, name)
  onTestFinished(() => dropDatabase(nodes, name))
  const pooler = process.env.TEST_DATABASE_POOLER
  return () => {
    const way = withDatabase(pooler ?? server!, name)
    const database = openPostgres(way, { reads: 3, transactions: 1, isPooled: pooler !== undefined })
    onTestFinished(() => database.close())
    return database
  }
}

/** Statements on every shared connection, until stopped. */
function keepBusy(database: Database): () => Promise<void> {
  let isOver = false
  const all = Array.from({ length: 4 }, async () => {
    while (!isOver) await database.query('select pg_sleep(random() * 0.02)', [])
  })
  return async () => {
    isOver = true
    await Promise.all(all)
  }
}

// Behind a pooler with one connection the others would wait for it.
test.skipIf(!server || process.env.TEST_DATABASE_POOLER !== undefined)(
  'concurrent migrations of several machines are serialized, and none leaves a lock',
  async () => {
    const open = await createEmpty()
    const first = open()
    await first.script(`do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
      current_database(), 'repeatable read'); end $$`)
    await first.close()
    const machines = [open(), open(), open()]
    const ends = machines.map(keepBusy)
    const ran = await Promise.all(machines.map(migrate))
    await Promise.all(ends.map((end) => end()))
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1)
    expect(ran.flat().length).toBe((await findAppliedMigrations(machines[0]!)).size)
    // The next version's statements can run while these still do.
    const locks = await sql`select 1 from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(
      machines[0]!.root,
    )
    expect(locks.rows).toEqual([])
  },
)
