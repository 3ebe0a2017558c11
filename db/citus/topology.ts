/**
 * The topology of a database: one PostgreSQL, or the coordinator of a Citus cluster, and how far its tables are
 * distributed.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { type Placement, placements, type Tables } from '../tables.ts'

export interface TablePlacement {
  table: string
  place: Placement
}

/** How tables are distributed; `readTopology` returns null for a database without the Citus extension. */
export interface Topology {
  /** Whether rows of stores are on the workers. */
  isDistributed: boolean
  /** Tables that are not distributed as declared yet; a referenced table comes before those that reference it. */
  missing: readonly TablePlacement[]
  /** Whether foreign keys are still saved in `distribution_keys`. */
  isUnfinished: boolean
}

/** `root`: the transaction to read in. */
export async function readTopology(
  database: Database,
  root: Kysely<Tables> = database.root,
): Promise<Topology | null> {
  if (database.kind === 'pglite' || !(await hasCitus(root))) return null
  const { rows } = await sql<{ table: string; is_distributed: boolean }>`
    select c.relname as table, coalesce(d.partmethod <> 'n' or d.repmodel = 't', false) as is_distributed
    from pg_class c left join pg_dist_partition d on d.logicalrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`.execute(root)
  const there = new Map(rows.map((row) => [row.table, row.is_distributed]))
  const missing = Object.entries(placements)
    .filter(([table, place]) => place !== 'coordinator' && there.get(table) === false)
    .map(([table, place]) => ({ table, place }))
  return {
    isDistributed: there.get('stores') === true,
    isUnfinished: there.has('distribution_keys'),
    missing: missing.sort((a, b) => placementOrder.indexOf(a.place) - placementOrder.indexOf(b.place)),
  }
}

const placementOrder: readonly Placement[] = ['everywhere', 'id', 'store_id']

const hasCitus = async (root: Kysely<Tables>): Promise<boolean> => {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(root)
  return rows.length > 0
}
