/** The common interface of both databases, the embedded one and PostgreSQL. All code above it uses only Kysely. */
import type { Kysely } from 'kysely'
import { DatabaseUnresponsive } from './deadlines.ts'
import type { PreparingPglite } from './embedded/pglite.ts'
import type { FileAddresses } from './file-addresses.ts'
import type { Plan } from './postgres/pool.ts'
import type { Tables } from './tables.ts'

/** A signal that throws its reason once the work is cancelled. */
export type CancelSignal = Pick<AbortSignal, 'throwIfAborted'>

export type RootDatabase = Kysely<Tables>

export interface Database {
  /** `pglite`: all callers share one session, so a transaction blocks all other statements. */
  readonly kind: 'pglite' | 'postgres'
  /** A handle that sees the rows of every store. Handlers and store jobs never get it. */
  readonly root: RootDatabase
  /** PGlite's session, if this process has the embedded database open. */
  readonly pglite: PreparingPglite | null
  /** Translates the addresses of files in parameters and results. */
  readonly fileAddresses: FileAddresses
  /**
   * Runs one compiled statement outside any transaction: the fast path for hot reads. Plan `once`: PostgreSQL keeps one
   * generic plan for all values. That makes reading a row by its id several times faster, but is wrong if the best plan
   * depends on the values (ranges, rare states). Plan `each-time`: PostgreSQL plans at every call, for text searches.
   * Without a plan PostgreSQL decides, and may keep a generic plan after five calls.
   */
  query<Row>(text: string, parameters: readonly unknown[], plan?: Plan): Promise<Row[]>
  /** Whether the database is a Citus cluster, where a statement that names no store queries all shards. */
  isDistributed(): boolean | Promise<boolean>
  /** A handle for long-running work (jobs, commands, migrations): its statements may take longer than a request's. */
  readonly longRunning: Database
  /** Returns a handle for one job or task, which refuses every statement after its cancellation. */
  cancellable(hold: CancelSignal): Database
  /** Runs several statements in one text, without parameters; returns all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** Ids of stores whose node of the cluster is known not to answer. */
  readonly unreachableStores: ReadonlySet<string>
  /**
   * The numbers of open and busy connections and of waiting callers, and whether a statement of the last minute failed
   * because the server's disk is full.
   */
  load(): { open: number; busy: number; waiting: number; isDiskFull: boolean }
  close(): Promise<void>
}

/** Throws if a store's node is unreachable: a query for its rows would block a connection that other callers need. */
export function requireReachable(
  { unreachableStores }: Pick<Database, 'unreachableStores'>,
  storeId: string,
): void {
  if (unreachableStores.has(storeId))
    throw new DatabaseUnresponsive('The node of the cluster that has this store does not answer')
}

export interface ServerDatabase extends Database {
  /** Checks that our connection settings are in effect; throws `PoolerError`, a sentence with the remedy, if not. */
  verify(): Promise<void>
}
