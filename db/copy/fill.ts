/** Fills a database that has no store with another's rows: all of them, or nothing. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import {
  type Column,
  type CopiedSequence,
  type CopiedTable,
  type Source,
  shapesOf,
  summed,
  writeAlike,
} from './source.ts'

/** Told before each table. */
export type Filling = (table: CopiedTable) => void

/** Throws one sentence where the database has stores. */
export async function requireNoStores(database: Database): Promise<void> {
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('public.stores') is not null as there`,
    [],
  )
  if (!table!.there) return
  const stores = await database.root.selectFrom('stores').select('id').limit(1).execute()
  if (stores.length > 0) throw new Error('There are stores in this database already: name an empty one')
}

/**
 * The database has the tables of the same migrations, and the queue's. Throws one sentence where the tables are others,
 * or what arrived is not what was read; then nothing is in it.
 */
export async function fill(database: Database, source: Source, told: Filling = () => {}): Promise<void> {
  const { root } = database.patient
  await root.transaction().execute(async (tx) => {
    await writeAlike(tx)
    requireAlike(source.tables, await shapesOf(tx))
    const keys = await dropKeys(tx)
    await sql`truncate ${sql.raw(source.tables.map(({ name }) => name).join(', '))}`.execute(tx)
    for (const table of source.tables) {
      told(table)
      for await (const rows of source.rowsOf(table)) await insert(tx, table, rows)
      await requireWhole(tx, table)
    }
    for (const sequence of source.sequences) await setSequence(tx, sequence)
    for (const { owner, name, definition } of keys) {
      await sql`alter table ${sql.raw(owner)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
        tx,
      )
    }
  })
  await database.patient.query('analyze', [])
}

function requireAlike(
  wanted: readonly CopiedTable[],
  found: readonly { name: string; columns: Column[] }[],
): void {
  const there = new Map(found.map(({ name, columns }) => [name, JSON.stringify(columns)]))
  const others = wanted.filter(({ name, columns }) => there.get(name) !== JSON.stringify(columns))
  // Where no server has been yet there is no queue.
  const hasQueue = wanted.some(({ name }) => name.startsWith('pgboss.'))
  const more = found.filter(
    ({ name }) => !wanted.some((table) => table.name === name) && (hasQueue || !name.startsWith('pgboss.')),
  )
  const [first] = [...others, ...more]
  if (!first) return
  throw new Error(
    `The table ${first.name} is not as it was where these rows come from: use the version of this product that it was, then upgrade`,
  )
}

/** Rows come table by table, also those that refer to each other. */
async function dropKeys(tx: Kysely<Tables>) {
  const { rows } = await sql<{ owner: string; name: string; definition: string }>`
    select format('%I.%I', n.nspname, c.relname) as owner, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and k.conparentid = 0 and n.nspname in ('public', 'pgboss')
    order by 1, 2`.execute(tx)
  for (const { owner, name } of rows) {
    await sql`alter table ${sql.raw(owner)} drop constraint ${sql.ref(name)}`.execute(tx)
  }
  return rows
}

async function insert(
  tx: Kysely<Tables>,
  { name, columns }: CopiedTable,
  rows: readonly string[],
): Promise<void> {
  const given = columns.filter(({ isMade }) => !isMade)
  const names = given.map((column) => sql.ref(column.name))
  const values = given.map((column) => sql`(read.line).${sql.ref(column.name)}`)
  // Without `offset 0` each column would read the whole line anew.
  await sql`insert into ${sql.raw(name)} (${sql.join(names)}) overriding system value
    select ${sql.join(values)}
    from (select line::${sql.raw(name)} as line from unnest(${rows}::text[]) line offset 0) read`.execute(tx)
}

async function requireWhole(tx: Kysely<Tables>, { name, rows, sum }: CopiedTable): Promise<void> {
  const found = await summed(tx, name)
  if (found.rows === rows && found.sum === sum) return
  throw new Error(
    `Of the table ${name} ${found.rows} rows arrived of ${rows}, or others than there were: nothing was kept; what they come from is damaged`,
  )
}

const setSequence = (tx: Kysely<Tables>, { name, value, isCalled }: CopiedSequence) =>
  sql`select setval(${name}::regclass, ${value}::bigint, ${isCalled})`.execute(tx)
