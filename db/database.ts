/** One way to the database, whichever it is. Everything above sees Kysely only. */
import type { Kysely } from 'kysely'
import { DatabaseSilent } from './deadlines.ts'
import type { PreparingPglite } from './embedded/pglite.ts'
import type { Plan } from './postgres/pool.ts'
import type { Tables } from './tables.ts'

/** What says that it was taken away: by throwing why. */
export type Hold = Pick<AbortSignal, 'throwIfAborted'>

export type RootDatabase = Kysely<Tables>

export interface Database {
  /** `pglite`: one session that all share, a transaction of anybody's stops the others. */
  readonly kind: 'pglite' | 'postgres'
  /** Sees every store. Handlers and store jobs never get this one. */
  readonly root: RootDatabase
  /** Present where this process has the embedded database open itself. */
  readonly pglite: PreparingPglite | null
  /**
   * One statement outside any transaction, its text compiled by the caller: the short way for hot reads. Plan `once`:
   * PostgreSQL keeps its plan, whatever the values, where it would often plan anew at each call. That makes a row by
   * its id several times faster; it is wrong where the values decide which plan is good (ranges, rare states). Plan
   * `each-time`: it never keeps one, as it would after five calls; for text that is looked for.
   */
  query<Row>(text: string, parameters: readonly unknown[], plan?: Plan): Promise<Row[]>
  /** Whether it is a cluster, where a statement that names no store asks all of its shards. */
  isDistributed(): boolean | Promise<boolean>
  /** The same for work that may take long: jobs, commands, migrations. Who waits for an answer never has this one. */
  readonly patient: Database
  /** The same for one piece of work, until it is taken from whoever does it: then every statement is refused. */
  whileHeld(hold: Hold): Database
  /** Several statements in one text, without parameters; answers all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** Those of which is known that what has them (a node of a cluster) does not answer, by id. */
  readonly awayStores: ReadonlySet<string>
  /** Clients in use and waiting, for the metrics. */
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

/** Throws where a store is away: whoever asked for its rows would wait, on a connection that others need. */
export function reach({ awayStores }: Pick<Database, 'awayStores'>, storeId: string): void {
  if (awayStores.has(storeId))
    throw new DatabaseSilent('The node of the cluster that has this store does not answer')
}

export interface ServerDatabase extends Database {
  /** Looks that what is set for statements holds on the way there; throws `NotDirect`, one sentence with its remedy. */
  verify(): Promise<void>
}
