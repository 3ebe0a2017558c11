/**
 * The settings of our connections. They are sent when a connection is opened, or, through a pooler, with each
 * transaction. A pooler such as PgBouncer reassigns a server's connection after each transaction (`pool_mode =
 * transaction`), or when our client disconnects (`session`). It ignores nearly all startup settings. A setting or a
 * prepared statement that outlives a transaction would affect another client, so through a pooler we use none.
 */
import { randomUUID } from 'node:crypto'
import { ConnectionLost, longStatementMs, nodeConnectMs } from '../deadlines.ts'

/** The kind of work: a request, or long-running work (a job, a command, a migration). */
export type Workload = 'request' | 'long'

/**
 * The kind of a connection: how its statements are planned, and how long they may take. `once`: generic plans. `apart`:
 * generic plans too, for statements that may take longer.
 */
export type SessionProfile = Workload | 'once' | 'apart' | 'transactions'

type Settings = Record<string, string>

export interface Sessions {
  /** The startup settings of a connection. A cluster keeps no plans. */
  startup(profile: SessionProfile, isDistributed: boolean): Settings
  /**
   * The text after `begin` that sets a transaction's settings. `once`, `each-time`: for one statement with that plan.
   */
  begin: Record<Workload | 'once' | 'noted' | 'each-time', string>
  /** The value of `markName` on our connections; null if they have none. */
  mark: string | null
}

/**
 * `values.ts` relies on `DateStyle` and `bytea_output`, for which a role or a database may have other defaults: 11
 * March would be read as 3 November. `jit` is off, since compiling takes longer than running our statements: 400 ms for
 * a large list that takes 9 ms.
 */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', bytea_output: 'hex', jit: 'off' }

/**
 * Settings for generic plans, which are made without the values. The planner does not know the size of a page then, and
 * would read and sort a million rows for the newest twenty.
 */
const preferIndex = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
}
const genericPlanByIndex = { plan_cache_mode: 'force_generic_plan', ...preferIndex }

/**
 * Planning at each call, for long-running work and text searches. The work's tables grow meanwhile, and a plan made
 * when they were empty costs far more than planning. A text search needs another plan for a rare text.
 */
const customPlan = { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'on' }
/** PostgreSQL's defaults, for a connection that prefers indexes otherwise. */
const anyScan = { enable_bitmapscan: 'on', max_parallel_workers_per_gather: '2' }

/**
 * Settings for transactions of requests. They are small, and planning their statements takes up to three times as long
 * as running them, so plans are kept. Without sequential scans, even a plan made when a table was empty uses an index.
 */
const autoPlanByIndex = { plan_cache_mode: 'auto', enable_seqscan: 'off' }

/** `synchronous_commit = off`: a crash of the database may lose the last second. */
const asyncCommit = { synchronous_commit: 'off' }

/** Settings for clusters. Without Citus the name is unknown and has no effect. */
const clusterSettings = { 'citus.node_connection_timeout': String(nodeConnectMs) }

/** A setting of our own that marks connections: PostgreSQL keeps it, PgBouncer refuses to open a connection with it. */
const markName = 'merchant_api.session'

const timeouts = (ms: number): Settings => ({
  statement_timeout: String(ms),
  idle_in_transaction_session_timeout: String(2 * ms),
})

const setLocal = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('')

/** Builds the settings. `embedded`: for another process's PGlite, which has no timeouts and no connection settings. */
export function buildSessions(
  kind: 'direct' | 'pooled' | 'embedded',
  { statementMs }: { statementMs: number },
): Sessions {
  const short = timeouts(statementMs)
  const long = timeouts(longStatementMs)
  if (kind === 'pooled') {
    const request = setLocal({ ...always, ...short })
    const begin = {
      request,
      long: setLocal({ ...always, ...long }),
      once: setLocal({ ...always, ...short, ...preferIndex, ...asyncCommit }),
      noted: setLocal({ ...always, ...short, ...asyncCommit }),
      'each-time': request,
    }
    return { startup: () => ({}), begin, mark: null }
  }
  if (kind === 'embedded') {
    return {
      startup: () => always,
      begin: { request: '', long: '', once: '', noted: '', 'each-time': '' },
      mark: null,
    }
  }
  const mark = randomUUID()
  const common = { ...always, [markName]: mark, ...clusterSettings }
  const quick = { ...common, ...short }
  return {
    startup: (profile, isDistributed) =>
      ({
        request: quick,
        long: { ...common, ...long },
        once: { ...quick, ...(isDistributed ? preferIndex : genericPlanByIndex), ...asyncCommit },
        apart: { ...quick, ...(isDistributed ? customPlan : genericPlanByIndex) },
        transactions: { ...quick, ...autoPlanByIndex },
      })[profile],
    begin: {
      request: '',
      long: setLocal({ ...long, ...customPlan }),
      once: '',
      noted: setLocal(asyncCommit),
      'each-time': setLocal({ ...customPlan, ...anyScan }),
    },
    mark,
  }
}

/** A connection pooler between us and PostgreSQL ignores our settings. */
export class PoolerError extends Error {
  override name = 'PoolerError'
}

type Query = (text: string) => Promise<readonly { mark: string | null }[]>

/** Throws `PoolerError` if the connection does not keep its startup settings, or cannot begin a transaction. */
export async function verify(query: Query, { mark }: Sessions): Promise<void> {
  try {
    const [row] = await query(`select current_setting('${markName}', true) as mark`)
    if (mark === null || row?.mark === mark) return
  } catch (error) {
    // postgres.js does not report the message that the pooler sends before it closes the connection.
    if (mark === null && error instanceof ConnectionLost) {
      throw new PoolerError(
        'DATABASE_POOLER: the connection was closed at its first transaction; pool_mode must be transaction or session',
      )
    }
    if (!/unsupported startup parameter/i.test((error as Error).message)) throw error
  }
  throw new PoolerError(
    'DATABASE_URL leads to a pooler of connections such as PgBouncer, which does not keep what a connection is opened ' +
      'with: set DATABASE_POOLER=on, or give the address of PostgreSQL itself',
  )
}

export const tooFewConnectionsError = (wanted: number): PoolerError =>
  new PoolerError(
    `DATABASE_POOLER: the pooler did not answer on ${wanted} connections; in session mode its default_pool_size must ` +
      `have room for ${wanted} of each process (DATABASE_TRANSACTIONS + 2 × DATABASE_READS + 1): ` +
      'raise it, lower those, or use pool_mode = transaction',
  )
