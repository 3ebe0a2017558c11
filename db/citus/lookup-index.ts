/**
 * Keeps values unique over all stores on a cluster. Citus can enforce a unique index only within a store. So the lookup
 * index, which is a table on the coordinator there, replaces the unique indexes over all stores.
 */
import { type Kysely, sql } from 'kysely'
import { indexDefinitions, uniqueLookupIndex } from '../lookup-index/definitions.ts'
import type { Tables } from '../tables.ts'

/**
 * Turns the view into a table. By that, other processes detect that the database is distributed (`distribution.ts`).
 */
export async function materializeLookupIndex(tx: Kysely<Tables>): Promise<void> {
  const { rows } =
    await sql`select 1 from pg_class where oid = 'directory'::regclass and relkind = 'v'`.execute(tx)
  if (rows.length === 0) return
  await sql`create table directory_lines (
    kind text not null, key text not null, store_id uuid not null, is_sole boolean not null)`.execute(tx)
  await sql`insert into directory_lines select distinct kind, key, store_id, is_sole from directory`.execute(
    tx,
  )
  await sql`drop view directory`.execute(tx)
  await sql`alter table directory_lines rename to directory`.execute(tx)
  await sql`alter table directory add constraint directory_pkey primary key (kind, key, store_id)`.execute(tx)
  await sql`create index directory_store on directory (store_id)`.execute(tx)
  await sql`create unique index ${sql.ref(uniqueLookupIndex)} on directory (kind, key) where is_sole`.execute(
    tx,
  )
  await sql`analyze directory`.execute(tx)
}

/** Other indexes over all stores, which need no entry: for random ids, or values that are looked up within a store. */
const otherUniques: Readonly<Record<string, { index: string; columns: readonly string[] }[]>> = {
  messaging_buttons: [{ index: 'messaging_buttons_id_key', columns: ['id'] }],
  payments: [
    {
      index: 'payments_provider_provider_payment_id_key',
      columns: ['provider', 'provider_payment_id'],
    },
  ],
}

/** Replaces each index by a unique index within a store, so that rows are still found by an index. */
export async function replaceUniques(tx: Kysely<Tables>, table: string): Promise<void> {
  const replaced = [
    ...(indexDefinitions[table as keyof typeof indexDefinitions] ?? []).flatMap(({ unique, columns }) =>
      unique ? [{ index: unique, columns }] : [],
    ),
    ...(otherUniques[table] ?? []),
  ]
  for (const { index, columns } of replaced) await replaceUnique(tx, table, index, columns)
}

async function replaceUnique(
  tx: Kysely<Tables>,
  table: string,
  index: string,
  columns: readonly string[],
): Promise<void> {
  const known = await sql<{ constraint: boolean }>`
    select exists (select 1 from pg_constraint where conindid = i.indexrelid) as constraint
    from pg_index i where i.indexrelid = to_regclass(${index})`.execute(tx)
  if (!known.rows[0]) return
  if (known.rows[0].constraint)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(index)}`.execute(tx)
  else await sql`drop index ${sql.ref(index)}`.execute(tx)
  const store = table === 'stores' ? 'id' : 'store_id'
  await sql`create unique index ${sql.ref(index)} on ${sql.table(table)}
    (${sql.join([store, ...columns].map((name) => sql.ref(name)))})`.execute(tx)
}
