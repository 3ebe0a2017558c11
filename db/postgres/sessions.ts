/**
 * The settings of our connections: sent when a connection is opened, or, behind a pooler, with each transaction.
 * A pooler reassigns a connection after each transaction (PgBouncer, `pool_mode = transaction`), or when our client
 * leaves it (`session`). It ignores nearly all startup settings, and everything that outlives a transaction would
 * affect another client: a setting, a prepared statement. So through a pooler nothing outlives a transaction.
 */
import { randomUUID } from 'node:crypto'
import { ConnectionLost, longStatementMs, nodeConnectMs } from '../deadlines.ts'

/** The kind of work: a request, or long-running work (a job, a command, a migration). */
export type Workload = 'request' | 'long'

/**
 * How statements of a connection are planned, and how long they may take. `once`: generic plans; `apart`: likewise,
 * for statements that may take longer.
 */
export type SessionProfile = Workload | 'once' | 'apart' | 'transactions'

type Settings = Record<string, string>

export interface Sessions {
  /** The startup settings of a connection. A cluster keeps no plans. */
  startup(profile: SessionProfile, isDistributed: boolean): Settings
  /** The settings after `begin`. `once`, `each-time`: for a transaction of one statement with this plan. */
  begin: Record<Workload | 'once' | 'each-time', string>
  /** The value of `markName` on our connections; null if they have none. */
  mark: string | null
}

/**
 * `values.ts` relies on `DateStyle` and `bytea_output`: a role's or a database's own may differ, and 11 March would be
 * read as 3 November. `jit`: compiling a statement takes longer than running one of ours, 400 ms for a large list that
 * is answered in 9.
 */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', bytea_output: 'hex', jit: 'off' }

/**
 * A generic plan does not know the values: without the size of a page the planner would read a million rows and sort
 * them for the newest twenty.
 */
const preferIndex = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
}
const genericPlanByIndex = { plan_cache_mode: 'force_generic_plan', ...preferIndex }

/**
 * Long-running work processes tables that grow meanwhile: a plan from when they were empty costs far more than
 * planning each time. A text search needs another plan for rare texts.
 */
const customPlan = { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'on' }
/** PostgreSQL's defaults, for a connection that prefers indexes otherwise. */
const anyScan = { enable_bitmapscan: 'on', max_parallel_workers_per_gather: '2' }

/**
 * A request's transaction is small: planning its statements took up to three times as long as running them. A plan
 * from when a table was empty uses an index, too.
 */
const autoPlanByIndex = { plan_cache_mode: 'auto', enable_seqscan: 'off' }

/** `synchronous_commit = off`: a crash of the database may lose the last second. */
const asyncCommit = { synchronous_commit: 'off' }

/** Without Citus, an unused name. */
const clusterSettings = { 'citus.node_connection_timeout': String(nodeConnectMs) }

/** A private setting: PostgreSQL keeps it with the connection, PgBouncer refuses to open one with it. */
const markName = 'merchant_api.session'

const timeouts = (ms: number): Settings => ({
  statement_timeout: String(ms),
  idle_in_transaction_session_timeout: String(2 * ms),
})

const setLocal = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('')

/** `embedded`: another process's PGlite, which has no timeouts and no connection settings. */
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
      'each-time': request,
    }
    return { startup: () => ({}), begin, mark: null }
  }
  if (kind === 'embedded') {
    return { startup: () => always, begin: { request: '', long: '', once: '', 'each-time': '' }, mark: null }
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
      'each-time': setLocal({ ...customPlan, ...anyScan }),
    },
    mark,
  }
}

/** Something between us and PostgreSQL ignores our settings. */
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
    // postgres.js does not report the pooler's message before it hangs up.
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
