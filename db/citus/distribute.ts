/**
 * Puts each table where it is declared to lie (`db/tables.ts`): those of stores on the workers, cut by store; those that
 * all stores share on every node. Each step is a transaction of its own that looks first, so that what was killed goes
 * on where it was, and several machines at once take turns.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { usualName } from '../postgres/pool.ts'
import type { Tables } from '../tables.ts'
import { commitsTogether } from './commits.ts'
import { keepDirectory, replaceUniques } from './directory.ts'
import { type Placed, standingOf } from './standing.ts'

/** Told before each table, with the rows it has by PostgreSQL's estimate. */
export interface Distributing {
  begin(tables: readonly { table: string; rows: number }[]): void
  table(table: string): void
  keys(done: number, all: number): void
}

const silent: Distributing = { begin() {}, table() {}, keys() {} }

/** Answers the tables that it moved. Throws one sentence where the cluster has no worker. */
export async function distribute(database: Database, told: Distributing = silent): Promise<string[]> {
  const { root } = database.patient
  const standing = await standingOf(database)
  if (!standing) return []
  await requireWorkers(root)
  await taking(root, spreadFunctions)
  await taking(root, keepDirectory)
  // By what lies where now: another may have moved tables meanwhile, and put keys back that must stay.
  const missing = await taking(root, (tx) => putKeysAside(tx, database))
  if (missing.length > 0) {
    told.begin(await estimated(root, missing))
    const size = await stepSize(root)
    for (let at = 0; at < missing.length; at += size) {
      await taking(root, async (tx) => {
        // Another machine may have moved some since.
        const left = new Set((await standingOf(database, tx))?.missing.map(({ table }) => table))
        for (const each of missing.slice(at, at + size).filter(({ table }) => left.has(table))) {
          told.table(each.table)
          await place(tx, each)
        }
      })
    }
  }
  await restoreKeys(root, told)
  await taking(root, commitsTogether)
  return missing.map(({ table }) => table)
}

/** A commit over all nodes takes longer than the work on an empty table. */
const emptyAtOnce = 20

/** One table a step, where there are rows to move. */
async function stepSize(root: Kysely<Tables>): Promise<number> {
  const stores = await root.selectFrom('stores').select('id').limit(1).execute()
  return stores.length === 0 ? emptyAtOnce : 1
}

/** One at a time, whoever else does the same; who waited sees what was done meanwhile, whatever the database's default. */
const taking = <T>(root: Kysely<Tables>, step: (tx: Kysely<Tables>) => Promise<T>): Promise<T> =>
  root
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('distribute', 0))`.execute(tx)
      return step(tx)
    })

/** Throws one sentence while servers of this database run, which would write where nobody looks any more. */
export async function requireAlone(database: Database): Promise<void> {
  const { rows } = await sql<{ connections: number }>`
    select count(*)::int as connections from pg_stat_activity
    where datname = current_database() and application_name = ${usualName} and pid <> pg_backend_pid()`.execute(
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

/** Those that statements call: the workers have what was made once the extension was there, and nothing from before. */
async function spreadFunctions(tx: Kysely<Tables>): Promise<void> {
  await sql`select create_distributed_function(p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      and not exists (select 1 from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`.execute(
    tx,
  )
}

/**
 * No table is distributed while one that is not refers to it: foreign keys wait in a table, in the transaction that
 * drops them. Answers the tables that are to be distributed.
 */
async function putKeysAside(tx: Kysely<Tables>, database: Database): Promise<readonly Placed[]> {
  const { missing = [] } = (await standingOf(database, tx)) ?? {}
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

async function estimated(root: Kysely<Tables>, missing: readonly Placed[]) {
  const { rows } = await sql<{ table: string; rows: number }>`
    select relname as table, (case when reltuples > 0 then reltuples else 0 end)::bigint as rows from pg_class
    where relnamespace = 'public'::regnamespace and relname = any(${missing.map(({ table }) => table)}::text[])`.execute(
    root,
  )
  const known = new Map(rows.map((row) => [row.table, row.rows]))
  return missing.map(({ table }) => ({ table, rows: known.get(table) ?? 0 }))
}

async function place(tx: Kysely<Tables>, { table, place: where }: Placed): Promise<void> {
  const { rows } = await sql`select 1 from pg_dist_partition where logicalrelid = ${table}::regclass`.execute(
    tx,
  )
  if (rows.length > 0) return
  await replaceUniques(tx, table)
  if (where === 'everywhere') await sql`select create_reference_table(${table})`.execute(tx)
  else if (where === 'id')
    await sql`select create_distributed_table(${table}, ${where}, colocate_with => 'none')`.execute(tx)
  else await sql`select create_distributed_table(${table}, ${where}, colocate_with => 'stores')`.execute(tx)
  // The rows are on the workers now: what stays here of them is not seen by any statement.
  await sql`select truncate_local_data_after_distributing_table(${table})`.execute(tx)
}

interface Key {
  owner: string
  name: string
  definition: string
}

async function restoreKeys(root: Kysely<Tables>, told: Distributing): Promise<void> {
  const size = await stepSize(root)
  let all: number | null = null
  for (;;) {
    const left = await taking(root, keysLeft)
    if (left === null) return
    all ??= left
    told.keys(Math.max(all - left, 0), all)
    await taking(root, (tx) => restoreSome(tx, size))
  }
}

/** How many keys wait; null where all are there again. */
async function keysLeft(tx: Kysely<Tables>): Promise<number | null> {
  // What `to_regclass` answers may be from before the lock was waited for.
  const { rows: has } = await sql`select 1 from pg_class
    where relnamespace = 'public'::regnamespace and relname = 'distribution_keys'`.execute(tx)
  if (has.length === 0) return null
  const { rows } = await sql<{ left: number }>`select count(*)::int as left from distribution_keys`.execute(
    tx,
  )
  return rows[0]!.left
}

/** The next of them; of the last, what they waited in. Another may have been faster. */
async function restoreSome(tx: Kysely<Tables>, atMost: number): Promise<void> {
  const left = await keysLeft(tx)
  if (left === null) return
  if (left === 0) {
    await sql`drop table distribution_keys`.execute(tx)
    return
  }
  // A key of a table on every node may follow another in one transaction in this mode alone.
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
