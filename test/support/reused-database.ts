/**
 * Reuses an embedded database for several test files. Creating one from the snapshot takes a second, and its first
 * statements as long again; emptying one takes a tenth. A database with changes other than rows is closed instead.
 */
import type { Database } from '#db/database'
import { openPglite } from '#db/open'

interface ReusableDatabase {
  database: Database
  tables: readonly string[]
  /** Rows left by the migrations and the queue, by table. */
  first: ReadonlyMap<string, string>
  form: string
}

const idle: ReusableDatabase[] = []
/** Deleted rows leave holes: a database that grew larger is not worth emptying. */
const largestBytes = 150e6
const ours =
  "n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and n.nspname !~ '^pg_(toast_)?temp'"

export async function reuseDatabase(snapshot: () => Promise<Blob>): Promise<Database> {
  const kept = idle.pop() ?? (await create(await snapshot()))
  let isOpen = true
  return {
    ...kept.database,
    get longRunning() {
      return kept.database
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      if (await restoreInitialState(kept)) idle.push(kept)
      else await kept.database.close()
    },
  }
}

async function create(snapshot: Blob): Promise<ReusableDatabase> {
  const database = await openPglite({ snapshot })
  const rows = await database.query<{ name: string }>(
    `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_class c
     join pg_namespace n on n.oid = c.relnamespace where ${ours} and c.relkind = 'r' order by 1`,
    [],
  )
  const tables = rows.map(({ name }) => name)
  const first = new Map<string, string>()
  for (const table of await listFilledTables(database, tables)) {
    const [row] = await database.query<{ rows: string }>(
      `select json_agg(t)::text as rows from ${table} t`,
      [],
    )
    first.set(table, row!.rows)
  }
  return { database, tables, first, form: await readShape(database) }
}

async function listFilledTables(database: Database, tables: readonly string[]): Promise<string[]> {
  const each = tables.map((table) => `select '${table}' as name where exists (select 1 from ${table})`)
  return (await database.query<{ name: string }>(each.join(' union all '), [])).map(({ name }) => name)
}

/** Everything except rows: tables, columns, indexes, functions, settings, and whether a table was analysed. */
async function readShape(database: Database): Promise<string> {
  const [row] = await database.query<{ form: string }>(
    `select md5(concat(
       (select string_agg(concat(c.relname, c.relkind, c.relnatts, c.reltriggers, c.reltuples), ',' order by c.oid)
        from (select c.*, (select count(*) from pg_trigger t where t.tgrelid = c.oid and t.tgenabled = 'O') reltriggers
              from pg_class c) c
        join pg_namespace n on n.oid = c.relnamespace where ${ours}),
       (select string_agg(concat(p.proname, p.prosrc), ',' order by p.oid) from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace where ${ours}),
       (select count(*) from pg_constraint), (select count(*) from pg_roles), (select count(*) from pg_extension),
       (select string_agg(setconfig::text, ',') from pg_db_role_setting))) as form`,
    [],
  )
  return row!.form
}

/** Restores the initial state; false if that is impossible. */
async function restoreInitialState({ database, tables, first, form }: ReusableDatabase): Promise<boolean> {
  const { pglite } = database
  if (!pglite || pglite.closed) return false
  await database.script('rollback')
  // Like `discard all`, but keeps the session's prepared statements.
  await database.script(
    'close all; reset all; unlisten *; select pg_advisory_unlock_all(); discard temp; discard sequences',
  )
  const [size] = await database.query<{ bytes: number }>(
    'select pg_database_size(current_database()) as bytes',
    [],
  )
  if (size!.bytes > largestBytes || (await readShape(database)) !== form) return false
  const clear = (await listFilledTables(database, tables)).map((table) => `delete from ${table};`)
  const restore = [...first].map(
    ([table, rows]) =>
      `insert into ${table} select * from json_populate_recordset(null::${table}, $rows$${rows}$rows$);`,
  )
  const sequences = await database.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name from pg_sequences
     where last_value is not null`,
    [],
  )
  const restarts = sequences.map(({ name }) => `alter sequence ${name} restart;`)
  await database.script(
    `begin; set local session_replication_role = replica; ${[...clear, ...restore, ...restarts].join(' ')} commit`,
  )
  return true
}
