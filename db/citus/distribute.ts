/**
 * Distributes the tables of a cluster as declared (`db/tables.ts`): tenant tables are sharded by store over the
 * workers, shared tables are copied to every node. Each step is a transaction that first reads the current state. So an
 * interrupted run can be resumed, and concurrent runs do not conflict.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { defaultName } from '../postgres/pool.ts'
import type { Tables } from '../tables.ts'
import { installCommitTriggers } from './commits.ts'
import { materializeLookupIndex, replaceUniques } from './lookup-index.ts'
import { readTopology, type TablePlacement } from './topology.ts'

/** Callbacks for the progress; `rows` is PostgreSQL's estimate. */
export interface DistributionProgress {
  begin(tables: readonly { table: string; rows: number }[]): void
  table(table: string): void
  keys(done: number, all: number): void
}

const noProgress: DistributionProgress = { begin() {}, table() {}, keys() {} }

/**
 * Distributes all tables that are not distributed yet, and returns their names. Throws if the cluster has no worker.
 */
export async function distribute(
  database: Database,
  progress: DistributionProgress = noProgress,
): Promise<string[]> {
  const { root } = database.longRunning
  const topology = await readTopology(database)
  if (!topology) return []
  await requireWorkers(root)
  await withLock(root, distributeFunctions)
  await withLock(root, materializeLookupIndex)
  // Uses the state after locking: another run may have distributed tables and restored keys, which must stay.
  const missing = await withLock(root, (tx) => dropForeignKeys(tx, database))
  if (missing.length > 0) {
    progress.begin(await estimateRows(root, missing))
    const size = await stepSize(root)
    for (let at = 0; at < missing.length; at += size) {
      await withLock(root, async (tx) => {
        // Another machine may have distributed some since.
        const left = new Set((await readTopology(database, tx))?.missing.map(({ table }) => table))
        for (const each of missing.slice(at, at + size).filter(({ table }) => left.has(table))) {
          progress.table(each.table)
          await placeTable(tx, each)
        }
      })
    }
  }
  await restoreForeignKeys(root, progress)
  await withLock(root, installCommitTriggers)
  return missing.map(({ table }) => table)
}

/** The number of empty tables per transaction: the commit takes longer than distributing an empty table. */
const emptyAtOnce = 20

/** The number of tables per step: one if there are rows to move. */
async function stepSize(root: Kysely<Tables>): Promise<number> {
  const stores = await root.selectFrom('stores').select('id').limit(1).execute()
  return stores.length === 0 ? emptyAtOnce : 1
}

/**
 * Runs a step under a lock, so that steps of concurrent runs are serialized. `read committed` lets the step see what
 * was committed while it waited for the lock.
 */
const withLock = <T>(root: Kysely<Tables>, step: (tx: Kysely<Tables>) => Promise<T>): Promise<T> =>
  root
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('distribute', 0))`.execute(tx)
      return step(tx)
    })

/** Throws one sentence while servers are connected to this database, since they would write to the old tables. */
export async function requireNoServers(database: Database): Promise<void> {
  const { rows } = await sql<{ connections: number }>`
    select count(*)::int as connections from pg_stat_activity
    where datname = current_database() and application_name = ${defaultName} and pid <> pg_backend_pid()`.execute(
    database.root,
  )
  const { connections } = rows[0]!
  if (connections === 0) return
  throw new Error(
    `Servers are connected to this database (${connections} connections): stop all gateways and workers first`,
  )
}

async function requireWorkers(root: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ coordinator: boolean; workers: boolean }>`
    select bool_or(groupid = 0) as coordinator, bool_or(shouldhaveshards and isactive) as workers
    from pg_dist_node`.execute(root)
  if (!rows[0]?.workers) {
    throw new Error(
      `This database has the extension citus and no worker: add one with select citus_add_node('host', 5432)`,
    )
  }
  if (!rows[0].coordinator) {
    throw new Error(
      `The cluster does not know its coordinator: select citus_set_coordinator_host('host', 5432) says where workers find it`,
    )
  }
}

/** Distributes the functions that statements call: a worker lacks those that were created before the extension. */
async function distributeFunctions(tx: Kysely<Tables>): Promise<void> {
  await sql`select create_distributed_function(p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      and not exists (select 1 from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`.execute(
    tx,
  )
}

/**
 * Drops the foreign keys of tables that will be distributed, since a table cannot be distributed while another one
 * references it. The same transaction saves the keys in a table. Returns the tables to distribute.
 */
async function dropForeignKeys(tx: Kysely<Tables>, database: Database): Promise<readonly TablePlacement[]> {
  const { missing = [] } = (await readTopology(database, tx)) ?? {}
  if (missing.length === 0) return missing
  await sql`create table if not exists distribution_keys (
    owner text not null, name text not null, definition text not null, primary key (owner, name))`.execute(tx)
  const names = missing.map(({ table }) => table)
  const { rows } = await sql<{ owner: string; name: string }>`
    with found as (
      select conrelid::regclass::text as owner, conname::text as name, pg_get_constraintdef(oid) as definition
      from pg_constraint
      where contype = 'f' and conparentid = 0
        and (conrelid::regclass::text = any(${names}::text[]) or confrelid::regclass::text = any(${names}::text[])))
    insert into distribution_keys select * from found
    on conflict (owner, name) do update set definition = excluded.definition
    returning owner, name`.execute(tx)
  for (const { owner, name } of rows) {
    await sql`alter table ${sql.table(owner)} drop constraint ${sql.ref(name)}`.execute(tx)
  }
  return missing
}

async function estimateRows(root: Kysely<Tables>, missing: readonly TablePlacement[]) {
  const { rows } = await sql<{ table: string; rows: number }>`
    select relname as table, (case when reltuples > 0 then reltuples else 0 end)::bigint as rows from pg_class
    where relnamespace = 'public'::regnamespace and relname = any(${missing.map(({ table }) => table)}::text[])`.execute(
    root,
  )
  const known = new Map(rows.map((row) => [row.table, row.rows]))
  return missing.map(({ table }) => ({ table, rows: known.get(table) ?? 0 }))
}

async function placeTable(tx: Kysely<Tables>, { table, place: where }: TablePlacement): Promise<void> {
  const { rows } = await sql`select 1 from pg_dist_partition where logicalrelid = ${table}::regclass`.execute(
    tx,
  )
  if (rows.length > 0) return
  await replaceUniques(tx, table)
  if (where === 'everywhere') await sql`select create_reference_table(${table})`.execute(tx)
  else if (where === 'id')
    await sql`select create_distributed_table(${table}, ${where}, colocate_with => 'none')`.execute(tx)
  else await sql`select create_distributed_table(${table}, ${where}, colocate_with => 'stores')`.execute(tx)
  // The rows are on the workers now: no statement sees the local copies.
  await sql`select truncate_local_data_after_distributing_table(${table})`.execute(tx)
}

interface Key {
  owner: string
  name: string
  definition: string
}

async function restoreForeignKeys(root: Kysely<Tables>, progress: DistributionProgress): Promise<void> {
  const size = await stepSize(root)
  let all: number | null = null
  for (;;) {
    const left = await withLock(root, countDroppedKeys)
    if (left === null) return
    all ??= left
    progress.keys(Math.max(all - left, 0), all)
    await withLock(root, (tx) => restoreNextKeys(tx, size))
  }
}

/** The number of saved foreign keys; null if all are restored. */
async function countDroppedKeys(tx: Kysely<Tables>): Promise<number | null> {
  // `to_regclass` may answer from before the lock was acquired.
  const { rows: has } = await sql`select 1 from pg_class
    where relnamespace = 'public'::regnamespace and relname = 'distribution_keys'`.execute(tx)
  if (has.length === 0) return null
  const { rows } = await sql<{ left: number }>`select count(*)::int as left from distribution_keys`.execute(
    tx,
  )
  return rows[0]!.left
}

/** Restores the next foreign keys; drops their table after the last one. Another run may have been faster. */
async function restoreNextKeys(tx: Kysely<Tables>, atMost: number): Promise<void> {
  const left = await countDroppedKeys(tx)
  if (left === null) return
  if (left === 0) {
    await sql`drop table distribution_keys`.execute(tx)
    return
  }
  // Only in this mode may one transaction restore several keys of a table that is on every node.
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(tx)
  const { rows } = await sql<Key>`
    select owner, name, definition from distribution_keys order by owner, name limit ${atMost}`.execute(tx)
  for (const { owner, name, definition } of rows) {
    await sql`delete from distribution_keys where owner = ${owner} and name = ${name}`.execute(tx)
    await sql`alter table ${sql.table(owner)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
      tx,
    )
  }
}
