/** What the database takes, and what it took more since; how long jobs waited. */
import type { Database } from '#db/database'

const mebibyte = 2 ** 20

export interface Sizes {
  database: number
  /** Where the log of writes stands, in bytes. */
  wal: number
  tables: Map<string, number>
}

export async function sizesOf(database: Database): Promise<Sizes> {
  const [whole] = await database.query<{ size: number; wal: number }>(
    `select pg_database_size(current_database())::float8 as size,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`,
    [],
  )
  const rows = await database.query<{ name: string; size: number }>(
    `select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
       pg_total_relation_size(c.oid)::float8 as size
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('public', 'pgboss')`,
    [],
  )
  return {
    database: whole!.size,
    wal: whole!.wal,
    tables: new Map(rows.map(({ name, size }) => [name, size])),
  }
}

export interface Growth {
  databaseMiB: number
  walMiB: number
  /** The tables that grew most. */
  tables: { name: string; MiB: number }[]
}

const shown = 5

export function growthOf(before: Sizes, after: Sizes): Growth {
  const grown = [...after.tables].map(([name, size]) => ({
    name,
    MiB: (size - (before.tables.get(name) ?? 0)) / mebibyte,
  }))
  return {
    databaseMiB: (after.database - before.database) / mebibyte,
    walMiB: (after.wal - before.wal) / mebibyte,
    tables: grown
      .filter(({ MiB }) => MiB > 0.1)
      .sort((a, b) => b.MiB - a.MiB)
      .slice(0, shown),
  }
}

export const inMiB = (bytes: number): number => bytes / mebibyte

export interface Lag {
  /** Begun since. */
  jobs: number
  p50Ms: number | null
  p99Ms: number | null
  /** Not begun at the end, though they were due, and how long the oldest was. */
  waiting: number
  oldestMs: number | null
  failed: number
}

/** How long jobs waited from when they were due: those of the clock, or all others. */
export async function lagSince(
  database: Database,
  since: Date,
  ofTheClock: readonly string[],
  which: 'clock' | 'others',
): Promise<Lag> {
  const [row] = await database.query<Lag>(
    `with of as (
       select *, extract(epoch from (coalesce(started_on, now()) - start_after))::float8 * 1000 as ms
       from pgboss.job where (name = any($2::text[])) = $3 and start_after >= $1::timestamptz
         and start_after <= now())
     select count(started_on)::integer as jobs,
       percentile_cont(0.5) within group (order by ms) filter (where started_on is not null) as "p50Ms",
       percentile_cont(0.99) within group (order by ms) filter (where started_on is not null) as "p99Ms",
       (count(*) filter (where state < 'active'))::integer as waiting,
       max(ms) filter (where state < 'active') as "oldestMs",
       (count(*) filter (where state in ('failed', 'retry')))::integer as failed
     from of`,
    [since, ofTheClock, which === 'clock'],
  )
  return row!
}
