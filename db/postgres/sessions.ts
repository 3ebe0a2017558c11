/**
 * What PostgreSQL is told of our statements, and how: with the connection where it is ours, with each transaction where
 * a pooler lends it.
 *
 * A pooler gives a connection to another client after each transaction (PgBouncer, `pool_mode = transaction`), or when
 * ours leaves it (`session`). It passes on next to nothing of what a connection is opened with, and whatever lasts longer
 * than a transaction is then another's: a setting, a prepared statement. So through one nothing lasts longer.
 */
import { randomUUID } from 'node:crypto'
import { longStatementMs, nodeConnectMs } from '../deadlines.ts'

/** Of whom a statement is: of a request, or of work that may take long (a job, a command, a migration). */
export type Pace = 'request' | 'long'

/**
 * What a client for transactions is taken for. A request's lone statement that others are not to stand behind: `anew`, it
 * is planned for its values each time; `apart`, its plan is kept.
 */
export type Way = Pace | 'anew' | 'apart'

/**
 * How a connection's statements are planned, and how long they may take. `bare`: it only asks who is there. `indexed`: as
 * `once`, on a cluster, whose plans are not kept.
 */
export type SessionKind = Pace | 'once' | 'indexed' | 'transactions' | 'bare'

export interface Sessions {
  /** What a connection is opened with. */
  startup: Record<SessionKind, Record<string, string>>
  /** What a client for transactions is told before it goes another way than the one before; '': they are all one. */
  change: Record<Way, string>
  /** What follows `begin`; `once`: of a single statement where a pooler lends the connection. */
  begin: Record<Pace | 'once', string>
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
 * anew. Text that is looked for is read in another way where it is rare.
 */
const plannedAnew = { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'on' }

/**
 * A request's transaction is small: planning its statements took as long as running them, and up to three times as long.
 * The plan that is kept from when a table was empty goes along an index, too.
 */
const keptWhereItPays = { plan_cache_mode: 'auto', enable_seqscan: 'off' }

/**
 * What is written so need not outlive a crash of the database that comes within a second: nobody waits for the disk. What
 * a later transaction of ours waits for takes it along.
 */
const notedSoon = { synchronous_commit: 'off' }

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
  const within = (ms: number): Record<string, string> => ({
    statement_timeout: String(ms),
    idle_in_transaction_session_timeout: String(2 * ms),
  })
  const short = within(statementMs)
  const long = within(longStatementMs)
  if (way.isPooled) {
    return {
      startup: { request: {}, long: {}, once: {}, indexed: {}, transactions: {}, bare: {} },
      begin: {
        request: setLocal({ ...always, ...short }),
        long: setLocal({ ...always, ...long }),
        once: setLocal({ ...always, ...short, ...alongAnIndex, ...notedSoon }),
      },
      change: { request: '', long: '', anew: '', apart: '' },
      script: `${setLocal({ ...always, ...long }).slice(1)}; `,
      mark: null,
      statementMs,
    }
  }
  // Another process's PGlite counts no time, and knows no settings of a connection.
  const isTimed = way.socket === undefined
  const mark = randomUUID()
  const common = isTimed ? { ...always, [markName]: mark, ...ofCluster } : always
  const quick = isTimed ? { ...common, ...short } : common
  return {
    startup: {
      request: quick,
      long: isTimed ? { ...common, ...long } : common,
      once: { ...quick, ...keptAlongAnIndex, ...notedSoon },
      indexed: { ...quick, ...alongAnIndex, ...notedSoon },
      transactions: { ...quick, ...keptWhereItPays },
      bare: common,
    },
    change: {
      request: isTimed ? set({ ...short, ...keptWhereItPays }) : '',
      long: isTimed ? set({ ...long, ...plannedAnew }) : '',
      anew: isTimed ? set({ ...short, ...plannedAnew }) : '',
      apart: isTimed ? set({ ...short, ...keptAlongAnIndex }) : '',
    },
    begin: { request: '', long: '', once: '' },
    script: '',
    mark,
    statementMs,
  }
}

/** What a way says nothing of is as the connection was opened, whichever way it went before. */
const set = (settings: Record<string, string>): string =>
  Object.keys({ ...keptAlongAnIndex, ...settings })
    .map((name) => `set ${name} = ${settings[name] === undefined ? 'default' : `'${settings[name]}'`}`)
    .join('; ')

const setLocal = (settings: Record<string, string>): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join('')

interface Asking {
  query<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]>
}

/** Whether what is set for a statement holds while it runs. */
export async function verified(pool: Asking, { mark, statementMs }: Sessions): Promise<void> {
  const found = await asked(pool, mark)
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

async function asked(pool: Asking, mark: string | null): Promise<Found> {
  try {
    const [row] = await pool.query<Found>(
      `select current_setting('jit') as jit, current_setting('TimeZone') as timezone,
         (select setting from pg_settings where name = 'statement_timeout') as ms,
         case when $1::boolean then current_setting('${markName}', true) end as mark`,
      [mark !== null],
    )
    return row!
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    if (/unsupported startup parameter/i.test(message)) throw new NotDirect(pooled)
    // What it says before it hangs up is not told by the library.
    if (mark === null && code === 'CONNECTION_CLOSED') {
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
 * Throws `NotDirect` where the next of the connections has not answered for so long. What is counted are turns of this
 * process: one that stood still itself, as a start does while it reads its modules, has not waited.
 */
export async function allWithin(ms: number, connections: readonly Promise<unknown>[]): Promise<void> {
  let answered = 0
  let turnsLeft = turnsOfWait
  const heard = (): void => {
    answered += 1
    turnsLeft = turnsOfWait
  }
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      turnsLeft -= 1
      if (turnsLeft === 0) end(() => reject(new NotDirect(tooFew(answered, connections.length))))
    }, ms / turnsOfWait)
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

const turnsOfWait = 50

const tooFew = (answered: number, wanted: number): string =>
  `DATABASE_POOLER: the pooler answered on ${answered} of ${wanted} connections; in session mode its default_pool_size ` +
  `must have room for ${wanted} of each process (DATABASE_TRANSACTIONS + 2 × DATABASE_READS + 1): ` +
  'raise it, lower those, or use pool_mode = transaction'
