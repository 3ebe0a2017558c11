/** What a database is: one PostgreSQL, or the coordinator of a Citus cluster, and how far its tables are distributed. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { type Place, places, type Tables } from '../tables.ts'

export interface Placed {
  table: string
  place: Place
}

/** Null without the extension: then nothing here concerns it. */
export interface Standing {
  /** Whether rows of stores lie on the workers. */
  isDistributed: boolean
  /** What lies on the coordinator and is declared to lie elsewhere; parents of foreign keys first. */
  missing: readonly Placed[]
  /** Whether foreign keys still wait in `distribution_keys`. */
  isUnfinished: boolean
}

/** `root`: the transaction to look in. */
export async function standingOf(
  database: Database,
  root: Kysely<Tables> = database.root,
): Promise<Standing | null> {
  if (database.kind === 'pglite' || !(await hasCitus(root))) return null
  const { rows } = await sql<{ table: string; is_distributed: boolean }>`
    select c.relname as table, coalesce(d.partmethod <> 'n' or d.repmodel = 't', false) as is_distributed
    from pg_class c left join pg_dist_partition d on d.logicalrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`.execute(root)
  const there = new Map(rows.map((row) => [row.table, row.is_distributed]))
  const missing = Object.entries(places)
    .filter(([table, place]) => place !== 'coordinator' && there.get(table) === false)
    .map(([table, place]) => ({ table, place }))
  return {
    isDistributed: there.get('stores') === true,
    isUnfinished: there.has('distribution_keys'),
    missing: missing.sort((a, b) => turns.indexOf(a.place) - turns.indexOf(b.place)),
  }
}

const turns: readonly Place[] = ['everywhere', 'id', 'store_id']

const hasCitus = async (root: Kysely<Tables>): Promise<boolean> => {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(root)
  return rows.length > 0
}
