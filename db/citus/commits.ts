/**
 * Makes commits atomic over a store's rows and tables on the coordinator. Citus uses two-phase commit only if it knows
 * that two nodes were written, and it does not track plain tables on the coordinator. It would then commit on the
 * worker first; if the coordinator crashed before its own commit, the store's rows would be written but the job lost.
 * So each plain table has a trigger that updates no row of a table that Citus does track.
 */
import { type Kysely, sql } from 'kysely'
import { placements, type Tables } from '../tables.ts'

/** Tables without the trigger: they are written many times a second, but never together with a store's rows. */
const excludedTables: readonly string[] = ['rate_counters']

export async function installCommitTriggers(tx: Kysely<Tables>): Promise<void> {
  await sql`create table if not exists commits_together (id integer primary key)`.execute(tx)
  await sql`select citus_add_local_table_to_metadata('commits_together')
    where not exists (select 1 from pg_dist_partition where logicalrelid = 'commits_together'::regclass)`.execute(
    tx,
  )
  await sql`create or replace function commit_together() returns trigger language plpgsql as $$
    begin
      update commits_together set id = id where id = 0;
      return null;
    end $$`.execute(tx)
  const owned = Object.entries(placements).flatMap(([table, place]) =>
    place === 'coordinator' && !excludedTables.includes(table) ? [`public.${table}`] : [],
  )
  const { rows } = await sql<{ table: string }>`
    select c.oid::regclass::text as table from pg_class c
    where c.oid = any(select to_regclass(name) from unnest(${owned}::text[]) name)
      and not exists (select 1 from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'commit_together')`.execute(
    tx,
  )
  for (const { table } of rows) {
    await sql`create trigger commit_together before insert or update or delete on ${sql.raw(table)}
      for each statement execute function commit_together()`.execute(tx)
  }
}

/** Makes this transaction's commit atomic. Needed if it writes tables without the trigger, such as the queue's. */
export async function forceDistributedCommit(tx: Kysely<Tables>): Promise<void> {
  await sql`update commits_together set id = id where id = 0`.execute(tx)
}
