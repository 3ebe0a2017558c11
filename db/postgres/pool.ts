/**
 * PostgreSQL over postgres.js, arranged for many small statements.
 *
 * postgres.js searches its queue on every query once one client has several connections, and Kysely's stock
 * driver reserves a connection for each query: both cost more than the query. So: a few clients of one
 * connection each, taken in turn, on which prepared statements pipeline; and clients of their own for
 * transactions, so that a slow one holds up nobody.
 */

import {
  connectMs,
  DatabaseSilent,
  type Deadlines,
  longStatementMs,
  silenceMs,
  usualDeadlines,
} from '../deadlines.ts'
import { Client, type ClientParts, SharedClients, type Watch } from './client.ts'

/** Of one statement: kept whatever its values, or made for its values at each call. Otherwise PostgreSQL decides. */
export type Plan = 'once' | 'each-time'

/** Of whom a statement is: of a request, or of work that may take long (a job, a command, a migration). */
export type Pace = 'request' | 'long'

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
  take(pace?: Pace): Promise<Client>
  give(client: Client): void
  /** What `begin` is sent with, so that the statements after it have the time of their kind. */
  readonly longBegin: string
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Values arrive as PGlite's do: bigint as number, date and numeric as text, JSON parsed. */
const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  date: { to: 1082, from: [1082], serialize: String, parse: (value: string) => value },
  // An instant given as text is PostgreSQL's to read: postgres.js would make a Date of it and text again.
  instant: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: string | Date) => (typeof value === 'string' ? value : value.toISOString()),
    parse: (value: string) => new Date(value),
  },
  json: { to: 3802, from: [114, 3802], serialize: asText, parse: (value: string) => JSON.parse(value) },
}

/**
 * A plan that is kept is made without the values: not knowing how short a page is, the planner would read a million
 * rows and sort them for the newest twenty.
 */
const alongAnIndex = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
}

export interface PoolOptions {
  reads: number
  exclusive: number
  socket?: string | undefined
  deadlines?: Pick<Deadlines, 'statementMs'>
}

/** Opens no connection yet: each client connects at its first query. */
export function postgresPool(url: string, options: PoolOptions): PostgresPool {
  return new Pool(url, options)
}

interface Waiting {
  pace: Pace
  since: number
  resolve(client: Client): void
  reject(error: unknown): void
}

/** The pool looks at its clients so often within the shortest time that it may have to notice. */
const looksAtLeast = 5
const lookEveryMs = 1000
/** Who could not connect tries again by itself, so that no request has to find out. */
const triedAgainMs = 5_000

class Pool implements PostgresPool {
  readonly longBegin: string
  readonly #url: string
  readonly #sizes: PoolOptions
  readonly #watch: Watch = { turn: 0 }
  readonly #lookMs: number
  readonly #timer: NodeJS.Timeout
  readonly #requestTurns: number
  readonly #longTurns: number
  readonly #shared: SharedClients
  /** How a statement is planned, and how long it may take, are settings of its connection. */
  readonly #plannedOnce: SharedClients
  readonly #long: SharedClients
  readonly #exclusive = new Set<Client>()
  readonly #idle: Client[] = []
  readonly #waiting: Waiting[] = []
  /** A connection anew, while those there say nothing. */
  #witness: Client | null = null
  #askedAt = 0
  #isClosed = false

  constructor(url: string, sizes: PoolOptions) {
    const { statementMs } = sizes.deadlines ?? usualDeadlines
    const heardMs = silenceMs({ statementMs })
    this.#url = url
    this.#sizes = sizes
    this.#lookMs = Math.min(lookEveryMs, heardMs / looksAtLeast)
    this.#requestTurns = this.#turns(heardMs)
    this.#longTurns = this.#turns(silenceMs({ statementMs: longStatementMs }))
    // Another process's PGlite counts no time, and knows no settings of a connection.
    const within = (ms: number): Record<string, string> =>
      sizes.socket
        ? {}
        : { statement_timeout: String(ms), idle_in_transaction_session_timeout: String(2 * ms) }
    const short = within(statementMs)
    const long = within(longStatementMs)
    const settings = Object.entries(long).map(([name, value]) => `; set local ${name} = ${value}`)
    this.longBegin = settings.join('')
    this.#shared = this.#group(short, this.#requestTurns)
    this.#plannedOnce = this.#group({ ...short, ...alongAnIndex }, this.#requestTurns)
    this.#long = this.#group(long, this.#longTurns)
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref()
  }

  query<Row>(text: string, parameters: readonly unknown[], plan?: Plan, pace?: Pace) {
    // A row by its id is as quickly there for a job; and what was never prepared has no plan to keep.
    const group = plan === 'once' ? this.#plannedOnce : pace === 'long' ? this.#long : this.#shared
    return group.choose().run(text, parameters, plan !== 'each-time') as Promise<
      Row[] & { count: number | null }
    >
  }

  async script<Row>(text: string): Promise<Row[]> {
    const client = await this.take('long')
    const isTimed = this.longBegin !== ''
    try {
      if (isTimed) await client.run(`set statement_timeout = ${longStatementMs}`, [])
      const results: unknown[] = await client.run(text, [])
      return results.flat() as Row[]
    } catch (error) {
      if (client.live) await client.run('rollback', [])
      throw error
    } finally {
      if (isTimed && client.live) await client.run('reset statement_timeout', [])
      this.give(client)
    }
  }

  async take(pace: Pace = 'request'): Promise<Client> {
    for (let client = this.#idle.pop(); client; client = this.#idle.pop()) {
      if (client.live) return this.#for(pace, client)
      this.#drop(client)
    }
    if (this.#exclusive.size < this.#sizes.exclusive) {
      try {
        return this.#for(pace, await this.#connect())
      } catch (error) {
        // With few connections left the ones that live are waited for.
        if (this.#exclusive.size === 0) throw error
      }
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ pace, since: this.#watch.turn, resolve, reject })
    })
  }

  give(client: Client): void {
    const isLive = client.live
    if (!isLive) this.#drop(client)
    const first = this.#waiting.shift()
    if (!first) {
      if (isLive) this.#idle.push(client)
      return
    }
    if (isLive) first.resolve(this.#for(first.pace, client))
    else void this.#connectFor(first)
  }

  load(): { open: number; busy: number; waiting: number } {
    return {
      open: this.#all().filter(({ live }) => live).length,
      busy: this.#exclusive.size - this.#idle.length,
      waiting: this.#waiting.length,
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.all(this.#all().map((client) => client.close()))
  }

  #turns(ms: number): number {
    return Math.ceil(ms / this.#lookMs)
  }

  #for(pace: Pace, client: Client): Client {
    client.patience = pace === 'long' ? this.#longTurns : this.#requestTurns
    return client
  }

  #group(settings: Record<string, string>, patience: number): SharedClients {
    return new SharedClients(this.#sizes.reads, (changed) =>
      this.#open(settings, { patience, changed, instead: () => this.#anyLive() }),
    )
  }

  /** A connection of another kind is better than none: what differs is how long statements may take. */
  #anyLive(): Client | null {
    return this.#shared.chooseLive() ?? this.#plannedOnce.chooseLive() ?? this.#long.chooseLive()
  }

  #open(settings: Record<string, string>, parts: Omit<ClientParts, 'url' | 'options' | 'watch'>): Client {
    const { socket } = this.#sizes
    const options = {
      ...(socket ? { path: socket } : {}),
      max: 1,
      types,
      connect_timeout: connectMs / 1000,
      // Tries soon, however often it failed before: a request waits.
      backoff: (retries: number) => Math.min(3 ** retries / 100, 0.5),
      // Compiling a statement takes longer than running one of ours: 400 ms where a large list answers in 9.
      connection: { application_name: 'merchant-api', TimeZone: 'UTC', jit: 'off', ...settings },
      onnotice: () => {},
    }
    return new Client({ url: this.#url, options, watch: this.#watch, ...parts })
  }

  /** One more client for transactions; it has its connection. */
  async #connect(): Promise<Client> {
    const { statementMs } = this.#sizes.deadlines ?? usualDeadlines
    const client = this.#open(
      {
        // Transactions do the bulk work, on tables that grow under them: a plan kept from when they were empty costs
        // far more than planning anew.
        plan_cache_mode: 'force_custom_plan',
        ...(this.longBegin === ''
          ? {}
          : {
              statement_timeout: String(statementMs),
              idle_in_transaction_session_timeout: String(2 * statementMs),
            }),
      },
      { patience: this.#requestTurns },
    )
    this.#exclusive.add(client)
    try {
      await client.run('select 1', [])
      return client
    } catch (error) {
      this.#drop(client)
      // Nobody is left who could serve those that wait.
      if (this.#exclusive.size === 0) for (const each of this.#waiting.splice(0)) each.reject(error)
      throw error
    }
  }

  async #connectFor(first: Waiting): Promise<void> {
    try {
      first.resolve(this.#for(first.pace, await this.#connect()))
    } catch (error) {
      if (this.#exclusive.size === 0) first.reject(error)
      else this.#waiting.unshift(first)
    }
  }

  #drop(client: Client): void {
    this.#exclusive.delete(client)
    void client.close(0)
  }

  #all(): Client[] {
    const groups = [this.#shared, this.#plannedOnce, this.#long]
    const clients = [...groups.flatMap((group) => group.clients), ...this.#exclusive]
    return this.#witness ? [...clients, this.#witness] : clients
  }

  /** One turn: gives up who has heard nothing for too long, and those who waited too long for a client. */
  #look(): void {
    this.#watch.turn += 1
    const { turn } = this.#watch
    let isDoubted = false
    for (const client of this.#all()) {
      const { silentFor } = client
      if (silentFor >= client.patience) client.giveUp(silent())
      else if (silentFor >= this.#requestTurns) isDoubted = true
      if (client.isFailing && client.open === 0 && turn - client.failedAt >= this.#turns(triedAgainMs)) {
        client.run('select 1', []).catch(() => undefined) // stays as it is
      }
    }
    if (isDoubted && !this.#witness && turn - this.#askedAt >= this.#requestTurns) void this.#askAnew()
    while (this.#waiting.length > 0) {
      const [{ pace, since, reject }] = this.#waiting as [Waiting]
      if (turn - since < (pace === 'long' ? this.#longTurns : this.#requestTurns)) break
      this.#waiting.shift()
      reject(new DatabaseSilent('No connection to the database became free in time'))
    }
  }

  /**
   * Long work waits as long as the database is there for others. Where a new connection hears nothing either, nobody is
   * at the other end.
   */
  async #askAnew(): Promise<void> {
    this.#askedAt = this.#watch.turn
    const witness = this.#open({}, { patience: this.#turns(connectMs) })
    this.#witness = witness
    try {
      await witness.run('select 1', [])
    } catch (error) {
      // A refusal is a sign of life too.
      if (!this.#isClosed && sqlStateShape.test(String((error as { code?: unknown }).code))) return
      for (const client of this.#all()) if (client.silentFor >= this.#requestTurns) client.giveUp(silent())
    } finally {
      this.#witness = null
      void witness.close(0)
    }
  }
}

const silent = (): DatabaseSilent => new DatabaseSilent('The database does not answer')
const sqlStateShape = /^[0-9A-Z]{5}$/
