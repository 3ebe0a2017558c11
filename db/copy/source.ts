/** Reads a consistent snapshot of a database's rows as text: for a backup, or to copy them into another database. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'

export interface CopiedTable {
  /** The name with its schema, quoted if needed. */
  name: string
  columns: readonly Column[]
  rows: number
  /** An order-independent checksum of all rows' texts. */
  sum: string
  /** Bytes of the longest row's text. */
  widest: number
}

export interface Column {
  name: string
  type: string
  /** A generated column. */
  isMade: boolean
}

export interface CopiedSequence {
  name: string
  value: number
  isCalled: boolean
}

export interface Source {
  migrations: readonly string[]
  tables: readonly CopiedTable[]
  sequences: readonly CopiedSequence[]
  /** The text of each row, some hundred at a time. */
  readRows(table: CopiedTable): AsyncIterable<readonly string[]>
}

/** The number of rows per batch, so that a batch fits into memory, a line of a file and a parameter. */
const rowsAtOnce = ({ widest }: CopiedTable): number =>
  Math.min(200, Math.max(1, Math.floor((8 * 1024 * 1024) / Math.max(1, widest))))

/** Tables that are not copied, since the queue recreates them when it is opened. */
const skippedTables = ['pgboss.version', 'pgboss.bam', 'pgboss.queue_stats']

/**
 * Runs `work` on a consistent snapshot. The embedded database blocks all other statements meanwhile. Throws for a
 * cluster.
 */
export async function readSnapshot<T>(database: Database, work: (source: Source) => Promise<T>): Promise<T> {
  if (await database.isDistributed()) {
    throw new Error(
      'DATABASE_URL names a Citus cluster, whose rows lie on several machines: back it up by what its provider has for that',
    )
  }
  return database.longRunning.root
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      await setOutputFormat(tx)
      const shapes = await readTables(tx)
      const tables: CopiedTable[] = []
      for (const shape of shapes) tables.push({ ...shape, ...(await computeChecksum(tx, shape.name)) })
      const { rows: run } = await sql<{
        name: string
      }>`select name from kysely_migration order by name`.execute(tx)
      return work({
        migrations: run.map(({ name }) => name),
        tables,
        sequences: await readSequences(tx),
        readRows: (table) => readRows(tx, table),
      })
    })
}

async function* readRows(tx: Kysely<Tables>, table: CopiedTable): AsyncIterable<readonly string[]> {
  await sql`declare copied no scroll cursor for
    select "copied row"::text as row from ${sql.raw(table.name)} "copied row"`.execute(tx)
  const next = sql.raw(String(rowsAtOnce(table)))
  for (;;) {
    const { rows } = await sql<{ row: string }>`fetch ${next} from copied`.execute(tx)
    if (rows.length === 0) break
    yield rows.map(({ row }) => row)
  }
  await sql`close copied`.execute(tx)
}

/** Sets the output formats, so that equal values have equal texts on every server. */
export const setOutputFormat = (tx: Kysely<Tables>) =>
  sql`select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO, YMD', true),
    set_config('intervalstyle', 'postgres', true), set_config('extra_float_digits', '1', true),
    set_config('bytea_output', 'hex', true)`.execute(tx)

export async function computeChecksum(
  tx: Kysely<Tables>,
  table: string,
): Promise<Pick<CopiedTable, 'rows' | 'sum' | 'widest'>> {
  const { rows } = await sql<Pick<CopiedTable, 'rows' | 'sum' | 'widest'>>`
    select count(*) as rows, coalesce(sum(hashtextextended(line, 0)::numeric), 0)::text as sum,
      coalesce(max(octet_length(line)), 0) as widest
    from (select "copied row"::text as line from ${sql.raw(table)} "copied row" offset 0) read`.execute(tx)
  return rows[0]!
}

/** Lists our tables and the queue's, by name. A partitioned table is listed once, with the rows of its partitions. */
export async function readTables(tx: Kysely<Tables>): Promise<{ name: string; columns: Column[] }[]> {
  const { rows } = await sql<{ name: string; columns: Column[] }>`
    select format('%I.%I', n.nspname, c.relname) as name, (
      select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
        'isMade', a.attgenerated <> '') order by a.attnum)
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by 1`.execute(tx)
  return rows.filter(({ name }) => !skippedTables.includes(name))
}

async function readSequences(tx: Kysely<Tables>): Promise<CopiedSequence[]> {
  const { rows: names } = await sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'pgboss') and c.relkind = 'S' order by 1`.execute(tx)
  const sequences: CopiedSequence[] = []
  for (const { name } of names) {
    const { rows } = await sql<Omit<CopiedSequence, 'name'>>`
      select last_value as value, is_called as "isCalled" from ${sql.raw(name)}`.execute(tx)
    sequences.push({ name, ...rows[0]! })
  }
  return sequences
}
