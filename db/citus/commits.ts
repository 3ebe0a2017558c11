/**
 * One commit for a store's rows and what lies on the coordinator beside them. Citus commits by two phases where it knows
 * that two nodes were written; of plain tables on the coordinator it knows nothing, and would commit the worker first: a
 * coordinator that dies between the two would keep the write and lose its job. So each such table tells Citus, by a
 * statement that writes nothing to a table that Citus does know.
 */
import { type Kysely, sql } from 'kysely'
import { places, type Tables } from '../tables.ts'

/** Written by lone statements only, many times a second: no store's row is ever in their transaction. */
const alone: readonly string[] = ['rate_counters']

export async function commitsTogether(tx: Kysely<Tables>): Promise<void> {
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
  const owned = Object.entries(places).flatMap(([table, place]) =>
    place === 'coordinator' && !alone.includes(table) ? [`public.${table}`] : [],
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

/** For what is written to tables that are not ours, within the transaction: the queue's. */
export async function commitTogether(tx: Kysely<Tables>): Promise<void> {
  await sql`update commits_together set id = id where id = 0`.execute(tx)
}
