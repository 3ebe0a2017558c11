/** Fills a database that has no stores with the rows of another one, in one transaction. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import {
  type Column,
  type CopiedSequence,
  type CopiedTable,
  computeChecksum,
  readTables,
  type Source,
  setOutputFormat,
} from './source.ts'

/** Called before each table. */
export type CopyProgress = (table: CopiedTable) => void

/** Throws one sentence if the database has stores. */
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
 * Fills the database, which must have the queue's tables and those of the source's migrations. Throws one sentence if
 * the tables differ or the stored rows are not those that were read; then nothing is stored.
 */
export async function fill(
  database: Database,
  source: Source,
  onProgress: CopyProgress = () => {},
): Promise<void> {
  const { root } = database.longRunning
  await root.transaction().execute(async (tx) => {
    await setOutputFormat(tx)
    requireSameTables(source.tables, await readTables(tx))
    const keys = await dropForeignKeys(tx)
    await sql`truncate ${sql.raw(source.tables.map(({ name }) => name).join(', '))}`.execute(tx)
    for (const table of source.tables) {
      onProgress(table)
      for await (const rows of source.readRows(table)) await insert(tx, table, rows)
      await requireComplete(tx, table)
    }
    for (const sequence of source.sequences) await setSequence(tx, sequence)
    for (const { owner, name, definition } of keys) {
      await sql`alter table ${sql.raw(owner)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
        tx,
      )
    }
  })
  await database.longRunning.query('analyze', [])
}

function requireSameTables(
  tables: readonly CopiedTable[],
  found: readonly { name: string; columns: Column[] }[],
): void {
  const there = new Map(found.map(({ name, columns }) => [name, JSON.stringify(columns)]))
  const others = tables.filter(({ name, columns }) => there.get(name) !== JSON.stringify(columns))
  // A source database that no server has used has no queue.
  const hasQueue = tables.some(({ name }) => name.startsWith('pgboss.'))
  const more = found.filter(
    ({ name }) => !tables.some((table) => table.name === name) && (hasQueue || !name.startsWith('pgboss.')),
  )
  const [first] = [...others, ...more]
  if (!first) return
  throw new Error(
    `The table ${first.name} is not as it was where these rows come from: use the version of this product that it was, then upgrade`,
  )
}

/** Drops all foreign keys, since rows are inserted table by table and may reference rows of later tables. */
async function dropForeignKeys(tx: Kysely<Tables>) {
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
  // Without `offset 0` the whole row would be parsed again for each column.
  await sql`insert into ${sql.raw(name)} (${sql.join(names)}) overriding system value
    select ${sql.join(values)}
    from (select line::${sql.raw(name)} as line from unnest(${rows}::text[]) line offset 0) read`.execute(tx)
}

async function requireComplete(tx: Kysely<Tables>, { name, rows, sum }: CopiedTable): Promise<void> {
  const found = await computeChecksum(tx, name)
  if (found.rows === rows && found.sum === sum) return
  throw new Error(
    `Of the table ${name} ${found.rows} rows arrived of ${rows}, or others than there were: nothing was kept; what they come from is damaged`,
  )
}

const setSequence = (tx: Kysely<Tables>, { name, value, isCalled }: CopiedSequence) =>
  sql`select setval(${name}::regclass, ${value}::bigint, ${isCalled})`.execute(tx)
