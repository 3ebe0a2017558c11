/** The common interface of both databases. Everything above uses Kysely only. */
import type { Kysely } from 'kysely'
import { DatabaseUnresponsive } from './deadlines.ts'
import type { PreparingPglite } from './embedded/pglite.ts'
import type { Plan } from './postgres/pool.ts'
import type { Tables } from './tables.ts'

/** Throws the reason once the work was cancelled. */
export type CancelSignal = Pick<AbortSignal, 'throwIfAborted'>

export type RootDatabase = Kysely<Tables>

export interface Database {
  /** `pglite`: one session for all, so a transaction blocks everybody else. */
  readonly kind: 'pglite' | 'postgres'
  /** Sees every store. Handlers and store jobs never get it. */
  readonly root: RootDatabase
  /** The session, if this process has the embedded database open. */
  readonly pglite: PreparingPglite | null
  /**
   * Runs one statement outside any transaction, compiled by the caller: the fast path for hot reads. Plan `once`:
   * PostgreSQL keeps a generic plan, where it would often plan again at each call. That makes a row by its id several
   * times faster; it is wrong if the best plan depends on the values (ranges, rare states). Plan `each-time`: it never
   * keeps one, as it would after five calls; for text searches.
   */
  query<Row>(text: string, parameters: readonly unknown[], plan?: Plan): Promise<Row[]>
  /** Whether it is a cluster, where a statement without a store queries all shards. */
  isDistributed(): boolean | Promise<boolean>
  /** The pool for long-running work: jobs, commands, migrations. Never used while a caller waits for an answer. */
  readonly longRunning: Database
  /** A handle for one piece of work: after its cancellation every statement is refused. */
  cancellable(hold: CancelSignal): Database
  /** Runs several statements in one text, without parameters; returns all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** Ids of stores whose node of the cluster is known not to answer. */
  readonly unreachableStores: ReadonlySet<string>
  /** Clients in use and waiting, for the metrics. */
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

/** Throws if a store is unreachable: a query for its rows would block a connection that others need. */
export function requireReachable(
  { unreachableStores }: Pick<Database, 'unreachableStores'>,
  storeId: string,
): void {
  if (unreachableStores.has(storeId))
    throw new DatabaseUnresponsive('The node of the cluster that has this store does not answer')
}

export interface ServerDatabase extends Database {
  /** Checks that the timeouts of statements are in effect; throws `PoolerError`, one sentence with its remedy. */
  verify(): Promise<void>
}
