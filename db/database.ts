/**
 * One way to the database, whichever it is: PGlite in a folder (or in memory), or a PostgreSQL server.
 * Everything above sees Kysely only.
 */
import { PGlite } from '@electric-sql/pglite'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { CompiledQuery, type Driver, Kysely, PGliteDialect } from 'kysely'
import type { Deadlines } from './deadlines.ts'
import { type Pace, PipelinedDialect, type Plan, postgresPool } from './postgres.ts'
import { type Hold, revocable } from './revocable.ts'
import type { Tables } from './tables.ts'

export type RootDatabase = Kysely<Tables>

export interface Database {
  /** `pglite`: one session that all share, a transaction of anybody's stops the others. */
  readonly kind: 'pglite' | 'postgres'
  /** Sees every store. Handlers and store jobs never get this one. */
  readonly root: RootDatabase
  /** Present where this process has the embedded database open itself. */
  readonly pglite: PGlite | null
  /**
   * One statement outside any transaction, its text compiled by the caller: the short way for hot reads. Plan `once`:
   * PostgreSQL keeps its plan, whatever the values, where it would often plan anew at each call. That makes a row by
   * its id several times faster; it is wrong where the values decide which plan is good (ranges, rare states). Plan
   * `each-time`: it never keeps one, as it would after five calls; for text that is looked for.
   */
  query<Row>(text: string, parameters: readonly unknown[], plan?: Plan): Promise<Row[]>
  /** The same for work that may take long: jobs, commands, migrations. Who waits for an answer never has this one. */
  readonly patient: Database
  /** The same for one piece of work, until it is taken from whoever does it: then every statement is refused. */
  whileHeld(hold: Hold): Database
  /** Several statements in one text, without parameters; answers all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** Clients in use and waiting, for the metrics. */
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

/** Values arrive alike from both drivers: bigint as number, date as text, numeric as text, instants as Date. */
const pgliteParsers = {
  20: (value: string) => Number(value),
  1082: (value: string) => value,
  1700: (value: string) => value,
}

/** Opens PGlite: `dataDir` a folder, or `memory://`; `snapshot` a dump to start from. */
export async function openPglite(options: { dataDir?: string; snapshot?: Blob }): Promise<Database> {
  const pglite = await PGlite.create({
    dataDir: options.dataDir ?? 'memory://',
    ...(options.snapshot ? { loadDataDir: options.snapshot } : {}),
    parsers: pgliteParsers,
    extensions: { btree_gin, pg_trgm },
  })
  // Kysely takes its one connection in turns, so a query never lands in another request's transaction.
  const dialect = new BreathingDialect({ pglite })
  const root = new Kysely<Tables>({ dialect })
  const database: Database = {
    kind: 'pglite',
    root,
    pglite,
    get patient() {
      return database
    },
    // Transactions of another Kysely are kept apart by PGlite itself.
    whileHeld: (hold) => revocable(database, dialect, hold),
    async query<Row>(text: string, parameters: readonly unknown[]) {
      return (await root.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
    },
    script: async <Row>(text: string) => (await pglite.exec(text)).flatMap((each) => each.rows as Row[]),
    load: () => ({ open: 1, busy: 0, waiting: 0 }),
    async close() {
      await root.destroy()
      if (!pglite.closed) await pglite.close()
      // Its memory is hundreds of megabytes: it goes now, whoever still holds the database.
      Object.assign(pglite, { mod: undefined, fs: undefined })
    },
  }
  return database
}

/**
 * Connects to a PostgreSQL server. `reads`: clients that single statements share; `transactions`: how many
 * transactions may be open at once, each on a client of its own. `socket`: the unix socket where another process
 * serves its PGlite.
 */
export function openPostgres(
  url: string,
  sizes: {
    reads?: number
    transactions?: number
    socket?: string
    deadlines?: Pick<Deadlines, 'statementMs'>
  } = {},
): Database {
  const { reads = 3, transactions = 10, socket, deadlines } = sizes
  const pool = postgresPool(url, {
    reads,
    exclusive: transactions,
    socket,
    ...(deadlines ? { deadlines } : {}),
  })
  const at = (pace: Pace, patient: () => Database): Database => {
    const dialect = new PipelinedDialect(pool, pace)
    const root = new Kysely<Tables>({ dialect })
    const database: Database = {
      kind: socket ? 'pglite' : 'postgres',
      root,
      pglite: null,
      get patient() {
        return patient()
      },
      whileHeld: (hold) => revocable(database, dialect, hold),
      query: (text, parameters, plan) => pool.query(text, parameters, plan, pace),
      script: (text) => pool.script(text),
      load: () => pool.load(),
      async close() {
        await root.destroy()
        await pool.close()
      },
    }
    return database
  }
  const patient: Database = at('long', () => patient)
  return at('request', () => patient)
}

const breathEveryMs = 5

/**
 * PGlite answers without ever leaving the microtask queue, so a job that asks again and again would let no request in.
 * Every few milliseconds whoever takes the connection lets the event loop have its turn first.
 */
class BreathingDialect extends PGliteDialect {
  /** Of all its drivers together: work that changes hands often has to let others in as well. */
  #breathedAt = performance.now()

  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (options) => {
      if (performance.now() - this.#breathedAt > breathEveryMs) {
        await new Promise((resolve) => setImmediate(resolve))
        this.#breathedAt = performance.now()
      }
      return acquire(options)
    }
    return driver
  }
}
