/** The ways in which a statement reaches a PostgreSQL server. */
import type { Deadlines } from '../deadlines.ts'
import type { Client } from './client.ts'
import type { Distribution } from './distribution.ts'
import type { Pace, Way } from './sessions.ts'

/**
 * Of one statement: kept whatever its values (`once`, for reads; `noted`, so too, for a write that need not outlive a crash
 * of the database within a second, unless a later one does; `apart`, as `once`, where it may take longer than others should
 * wait), or made for its values at each call. Otherwise PostgreSQL decides.
 */
export type Plan = 'once' | 'noted' | 'apart' | 'each-time'

export interface PostgresPool {
  /** One statement on a client that others use too. */
  query<Row>(
    text: string,
    parameters: readonly unknown[],
    plan?: Plan,
    pace?: Pace,
  ): Promise<Row[] & { count: number | null }>
  /** Several statements in one text, without parameters, on a client of their own; answers all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** A client that nobody else uses until it is given back. */
  take(way?: Way): Promise<Client>
  give(client: Client): void
  /** Begins a transaction; where a pooler lends the connection it sets what its statements need. */
  begin(pace: Pace, modes?: string): string
  /** Whether it is a cluster's, which is asked once. */
  readonly distribution: Distribution
  /** Those whose node of a cluster is known not to answer. */
  readonly awayStores: ReadonlySet<string>
  /** Throws `NotDirect` where a pooler of connections is in between and was not told of, or one that cannot serve us. */
  verify(): Promise<void>
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

export interface PoolOptions {
  name?: string | undefined
  reads: number
  exclusive: number
  socket?: string | undefined
  /** A pooler such as PgBouncer is in between, which gives the same connection to others after each transaction. */
  isPooled?: boolean
  deadlines?: Pick<Deadlines, 'statementMs'>
}

/** Who waits for a client of their own. */
export interface Waiting {
  way: Way
  since: number
  resolve(client: Client): void
  reject(error: unknown): void
}
