/**
 * The settings of our connections: sent when a connection is opened, or, behind a pooler, with each transaction.
 *
 * A pooler gives a connection to another client after each transaction (PgBouncer, `pool_mode = transaction`), or when
 * ours leaves it (`session`). It passes on next to nothing of what a connection is opened with, and whatever lasts longer
 * than a transaction is then another's: a setting, a prepared statement. So through a pooler nothing lasts longer.
 */
import { randomUUID } from 'node:crypto'
import { ConnectionLost, longStatementMs, nodeConnectMs } from '../deadlines.ts'

/** Who asks: a request, or work that may take long (a job, a command, a migration). */
export type Workload = 'request' | 'long'

/**
 * How a connection's statements are planned, and how long they may take. `once`: plans are kept whatever the values;
 * `apart`: so too, for statements that may take longer.
 */
export type SessionProfile = Workload | 'once' | 'apart' | 'transactions'

type Settings = Record<string, string>

export interface Sessions {
  /** What a connection is opened with. A cluster keeps no plans. */
  startup(profile: SessionProfile, isDistributed: boolean): Settings
  /** What follows `begin`. `once`, `each-time`: of a transaction that is one statement of this plan. */
  begin: Record<Workload | 'once' | 'each-time', string>
  /** The value of `markName` on our connections; null if they have none. */
  mark: string | null
}

/**
 * `DateStyle` and `bytea_output` are how `values.ts` reads dates and bytes: a role's or a database's own may differ, and
 * 11 March would be read as 3 November. `jit`: compiling a statement takes longer than running one of ours, 400 ms where
 * a large list answers in 9.
 */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', bytea_output: 'hex', jit: 'off' }

/**
 * A plan that is kept is made without the values: not knowing how short a page is, the planner would read a million
 * rows and sort them for the newest twenty.
 */
const alongAnIndex = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
}
const keptAlongAnIndex = { plan_cache_mode: 'force_generic_plan', ...alongAnIndex }

/**
 * Long work goes through tables that grow under it: a plan kept from when they were empty costs far more than planning
 * each time. Text that is looked for is read in another way where it is rare.
 */
const plannedEachTime = { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'on' }
/** PostgreSQL's defaults, on a connection that goes along an index otherwise. */
const anyScan = { enable_bitmapscan: 'on', max_parallel_workers_per_gather: '2' }

/**
 * A request's transaction is small: planning its statements took as long as running them, and up to three times as long.
 * The plan that is kept from when a table was empty goes along an index, too.
 */
const keptWhereItPays = { plan_cache_mode: 'auto', enable_seqscan: 'off' }

/** A crash of the database may lose the last second: nobody waits for the disk. */
const mayBeLost = { synchronous_commit: 'off' }

/** Without Citus it is a name that nobody reads. */
const ofCluster = { 'citus.node_connection_timeout': String(nodeConnectMs) }

/** Known to nobody but us: PostgreSQL keeps it with the connection, PgBouncer refuses to open one with it. */
const markName = 'merchant_api.session'

const within = (ms: number): Settings => ({
  statement_timeout: String(ms),
  idle_in_transaction_session_timeout: String(2 * ms),
})

const setLocal = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('')

/** `embedded`: another process's PGlite, which counts no time, and knows no settings of a connection. */
export function sessionsFor(
  kind: 'direct' | 'pooled' | 'embedded',
  { statementMs }: { statementMs: number },
): Sessions {
  const short = within(statementMs)
  const long = within(longStatementMs)
  if (kind === 'pooled') {
    const request = setLocal({ ...always, ...short })
    const begin = {
      request,
      long: setLocal({ ...always, ...long }),
      once: setLocal({ ...always, ...short, ...alongAnIndex, ...mayBeLost }),
      'each-time': request,
    }
    return { startup: () => ({}), begin, mark: null }
  }
  if (kind === 'embedded') {
    return { startup: () => always, begin: { request: '', long: '', once: '', 'each-time': '' }, mark: null }
  }
  const mark = randomUUID()
  const common = { ...always, [markName]: mark, ...ofCluster }
  const quick = { ...common, ...short }
  return {
    startup: (profile, isDistributed) =>
      ({
        request: quick,
        long: { ...common, ...long },
        once: { ...quick, ...(isDistributed ? alongAnIndex : keptAlongAnIndex), ...mayBeLost },
        apart: { ...quick, ...(isDistributed ? plannedEachTime : keptAlongAnIndex) },
        transactions: { ...quick, ...keptWhereItPays },
      })[profile],
    begin: {
      request: '',
      long: setLocal({ ...long, ...plannedEachTime }),
      once: '',
      'each-time': setLocal({ ...plannedEachTime, ...anyScan }),
    },
    mark,
  }
}

/** Something between us and PostgreSQL does not do what the settings say. */
export class NotDirect extends Error {
  override name = 'NotDirect'
}

type Query = (text: string) => Promise<readonly { mark: string | null }[]>

/** Throws `NotDirect` if the connection does not keep what it is opened with, or cannot begin a transaction. */
export async function verify(query: Query, { mark }: Sessions): Promise<void> {
  try {
    const [row] = await query(`select current_setting('${markName}', true) as mark`)
    if (mark === null || row?.mark === mark) return
  } catch (error) {
    // postgres.js does not report what the pooler says before it hangs up.
    if (mark === null && error instanceof ConnectionLost) {
      throw new NotDirect(
        'DATABASE_POOLER: the connection was closed at its first transaction; pool_mode must be transaction or session',
      )
    }
    if (!/unsupported startup parameter/i.test((error as Error).message)) throw error
  }
  throw new NotDirect(
    'DATABASE_URL leads to a pooler of connections such as PgBouncer, which does not keep what a connection is opened ' +
      'with: set DATABASE_POOLER=on, or give the address of PostgreSQL itself',
  )
}

export const tooFewConnections = (wanted: number): NotDirect =>
  new NotDirect(
    `DATABASE_POOLER: the pooler did not answer on ${wanted} connections; in session mode its default_pool_size must ` +
      `have room for ${wanted} of each process (DATABASE_TRANSACTIONS + 2 × DATABASE_READS + 1): ` +
      'raise it, lower those, or use pool_mode = transaction',
  )
