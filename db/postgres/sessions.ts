/**
 * What PostgreSQL is told of our statements, and how: with the connection where it is ours, with each transaction where
 * a pooler lends it.
 *
 * A pooler gives a connection to another client after each transaction (PgBouncer, `pool_mode = transaction`), or when
 * ours leaves it (`session`). It passes on next to nothing of what a connection is opened with, and whatever lasts longer
 * than a transaction is then another's: a setting, a prepared statement. So through one nothing lasts longer.
 */
import { randomUUID } from 'node:crypto'
import { ConnectionLost, longStatementMs, nodeConnectMs } from '../deadlines.ts'

/** Who asks: a request, or work that may take long (a job, a command, a migration). */
export type Workload = 'request' | 'long'

/**
 * How a connection's statements are planned, and how long they may take. `once`: plans are kept whatever the values;
 * `apart`: so too, for what may take longer. `bare`: it only asks who is there.
 */
export type SessionProfile = Workload | 'once' | 'apart' | 'transactions' | 'bare'

type Settings = Record<string, string>

export interface Sessions {
  /** What a connection is opened with. A cluster keeps no plans. */
  startup(profile: SessionProfile, isDistributed: boolean): Settings
  /** What follows `begin`. `once`, `each-time`: of a transaction that is one statement of this plan. */
  begin: Record<Workload | 'once' | 'each-time', string>
  /** What stands before several statements in one text. */
  script: string
  /** What a connection answers that kept what it was opened with; null where none does. */
  mark: string | null
  statementMs: number
}

/** There is something between us and PostgreSQL that does not do what the settings say of it. */
export class NotDirect extends Error {
  override name = 'NotDirect'
}

/** Compiling a statement takes longer than running one of ours: 400 ms where a large list answers in 9. */
const always = { TimeZone: 'UTC', jit: 'off' }

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

/**
 * Known to nobody but us: PostgreSQL keeps it with the connection; PgBouncer, which is told by name what it may leave
 * out, refuses a connection that is opened with it.
 */
const markName = 'merchant_api.session'

export function sessionsOf(way: {
  statementMs: number
  socket: string | undefined
  isPooled: boolean
}): Sessions {
  const { statementMs } = way
  const within = (ms: number): Settings => ({
    statement_timeout: String(ms),
    idle_in_transaction_session_timeout: String(2 * ms),
  })
  const short = within(statementMs)
  const long = within(longStatementMs)
  if (way.isPooled) {
    const request = setLocal({ ...always, ...short })
    return {
      startup: () => ({}),
      begin: {
        request,
        long: setLocal({ ...always, ...long }),
        once: setLocal({ ...always, ...short, ...alongAnIndex, ...mayBeLost }),
        'each-time': request,
      },
      script: `${setLocal({ ...always, ...long }).slice(1)}; `,
      mark: null,
      statementMs,
    }
  }
  // Another process's PGlite counts no time, and knows no settings of a connection.
  if (way.socket !== undefined) {
    const begin = { request: '', long: '', once: '', 'each-time': '' }
    return { startup: () => always, begin, script: '', mark: null, statementMs }
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
        bare: common,
      })[profile],
    begin: {
      request: '',
      long: setLocal({ ...long, ...plannedEachTime }),
      once: '',
      'each-time': setLocal({ ...plannedEachTime, ...anyScan }),
    },
    script: '',
    mark,
    statementMs,
  }
}

const setLocal = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('')

interface Asking {
  query<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]>
}

/** Whether what is set for a statement holds while it runs. */
export async function verify(pool: Asking, { mark, statementMs }: Sessions): Promise<void> {
  const found = await ask(pool, mark)
  const holds =
    found.jit === 'off' && found.timezone === 'UTC' && Number(found.ms) === statementMs && found.mark === mark
  if (holds) return
  throw new NotDirect(
    mark === null
      ? 'DATABASE_POOLER: what lies between here and PostgreSQL does not keep `set local` for the transaction: ' +
          'PgBouncer does, with pool_mode = transaction or session'
      : pooled,
  )
}

interface Found {
  jit: string
  timezone: string
  ms: string
  mark: string | null
}

async function ask(pool: Asking, mark: string | null): Promise<Found> {
  try {
    const [row] = await pool.query<Found>(
      `select current_setting('jit') as jit, current_setting('TimeZone') as timezone,
         (select setting from pg_settings where name = 'statement_timeout') as ms,
         case when $1::boolean then current_setting('${markName}', true) end as mark`,
      [mark !== null],
    )
    return row!
  } catch (error) {
    const { message } = error as Error
    if (/unsupported startup parameter/i.test(message)) throw new NotDirect(pooled)
    // The library does not report what the pooler says before it hangs up.
    if (mark === null && error instanceof ConnectionLost) {
      throw new NotDirect(
        'DATABASE_POOLER: the connection was closed at its first transaction; pool_mode must be transaction or session',
      )
    }
    throw error
  }
}

const pooled =
  'DATABASE_URL leads to a pooler of connections such as PgBouncer, which does not keep what a connection is opened ' +
  'with: set DATABASE_POOLER=on, or give the address of PostgreSQL itself'

/**
 * Throws `NotDirect` where the next of the connections has not answered for so long. Counts ticks of this process: one
 * that stood still itself, as a start does while it reads its modules, has not waited.
 */
export async function allWithin(ms: number, connections: readonly Promise<unknown>[]): Promise<void> {
  let answered = 0
  let ticksLeft = ticksOfWait
  const heard = (): void => {
    answered += 1
    ticksLeft = ticksOfWait
  }
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      ticksLeft -= 1
      if (ticksLeft === 0) end(() => reject(new NotDirect(tooFew(answered, connections.length))))
    }, ms / ticksOfWait)
    const end = (settle: () => void): void => {
      clearInterval(timer)
      settle()
    }
    Promise.all(connections.map((each) => each.then(heard))).then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    )
  })
}

const ticksOfWait = 50

const tooFew = (answered: number, wanted: number): string =>
  `DATABASE_POOLER: the pooler answered on ${answered} of ${wanted} connections; in session mode its default_pool_size ` +
  `must have room for ${wanted} of each process (DATABASE_TRANSACTIONS + 2 × DATABASE_READS + 1): ` +
  'raise it, lower those, or use pool_mode = transaction'
