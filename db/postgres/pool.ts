/**
 * PostgreSQL over postgres.js, arranged for many small statements: a few connections for each session profile, on which
 * lone statements pipeline, and connections of their own for transactions, so that a slow one holds up nobody.
 */

import { Distribution } from '../citus/distribution.ts'
import { type Away, awayOf } from '../citus/nodes.ts'
import {
  ConnectionLost,
  connectMs,
  DatabaseSilent,
  type Deadlines,
  longStatementMs,
  silenceMs,
  turnMs,
  usualDeadlines,
} from '../deadlines.ts'
import { type PostgresAddress, readAddress } from './address.ts'
import { Connection, type Rows, type Watch } from './connection.ts'
import { ExclusiveConnections } from './exclusive.ts'
import {
  type SessionProfile,
  type Sessions,
  sessionsFor,
  tooFewConnections,
  verify,
  type Workload,
} from './sessions.ts'
import { SharedConnections } from './shared.ts'
import { types } from './values.ts'

export type { Workload } from './sessions.ts'

/**
 * How a statement is planned. `once`: one plan is kept for all values (reads). `noted`: the same for a write that a crash of
 * the database within a second may lose. `apart`: as `once`, for statements that may take long. `each-time`: planned for its
 * values at each call. Without a plan PostgreSQL decides.
 */
export type Plan = 'once' | 'noted' | 'apart' | 'each-time'

/** Who our connections say that they are. */
export const usualName = 'merchant-api'

export interface PoolOptions {
  name?: string | undefined
  /** Connections of each session profile that lone statements share. */
  reads: number
  /** Connections for transactions. */
  exclusive: number
  /** The unix socket where another process serves its PGlite. */
  socket?: string | undefined
  /** A pooler such as PgBouncer is in between, which gives the same connection to others after each transaction. */
  isPooled?: boolean
  deadlines?: Pick<Deadlines, 'statementMs'>
}

type Answer<Row> = Row[] & Pick<Rows, 'count'>
type Patience = Workload | 'slow'
type SharedProfile = Exclude<SessionProfile, 'transactions'>

/** The pool looks at its connections so often within the shortest time that it may have to notice. */
const looksAtLeast = 5
const lookEveryMs = 1000
const triedAgainMs = 5_000
/** A backend's cache grows with each table and statement, so connections are replaced, at random times. */
const lifetimeMs = (): number => (30 + 30 * Math.random()) * 60_000

export class PostgresPool {
  readonly #address: PostgresAddress
  readonly #options: PoolOptions
  readonly #sessions: Sessions
  readonly #watch: Watch = { tick: 0 }
  readonly #lookMs: number
  readonly #timer: NodeJS.Timeout
  /** In ticks. */
  readonly #patience: Record<Patience, number>
  readonly #all = new Set<Connection>()
  readonly #shared: Record<SharedProfile, SharedConnections>
  readonly #exclusive: ExclusiveConnections
  #isProbing = false
  #isClosed = false
  #probedAt = 0
  #away: Away = { nodes: [], stores: new Set() }
  readonly distribution: Distribution

  /** Opens no connection yet: each is opened at its first statement. */
  constructor(url: string, options: PoolOptions) {
    const { statementMs } = options.deadlines ?? usualDeadlines
    const heardMs = silenceMs({ statementMs })
    this.#address = readAddress(url)
    this.#options = options
    // Another process's PGlite is none.
    this.distribution = new Distribution((text) => this.query(text, []), options.socket ? false : null)
    this.#lookMs = Math.min(lookEveryMs, heardMs / looksAtLeast)
    this.#patience = {
      request: this.#ticks(heardMs),
      long: this.#ticks(silenceMs({ statementMs: longStatementMs })),
      slow: this.#ticks(Math.min(connectMs, heardMs)),
    }
    const kind = options.socket ? 'embedded' : options.isPooled ? 'pooled' : 'direct'
    this.#sessions = sessionsFor(kind, { statementMs })
    this.#shared = {
      request: this.#share('request'),
      once: this.#share('once'),
      // Behind a statement that takes long others wait too long, while other connections have nothing to do.
      apart: this.#share('apart', 0),
      long: this.#share('long', 0),
    }
    this.#exclusive = new ExclusiveConnections({
      count: options.exclusive,
      open: () => this.#open('transactions'),
      watch: this.#watch,
      patience: this.#patience,
      restTicks: this.#ticks(triedAgainMs),
    })
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref()
  }

  /**
   * One statement. Where its connection could not be opened another one is asked. A read whose connection was lost is asked
   * once more: whatever has one of the plans for reads, and a lone `select` of a request, which therefore calls no function
   * that writes. Of anything else nobody knows whether it was done.
   */
  async query<Row>(
    text: string,
    parameters: readonly unknown[],
    plan?: Plan,
    workload: Workload = 'request',
  ): Promise<Answer<Row>> {
    // A cluster's connections are opened with other settings.
    if (plan && this.distribution.known === null) await this.distribution.isDistributed()
    const isLong = workload === 'long'
    const kind = isLong || !plan || plan === 'apart' ? workload : plan === 'noted' ? 'once' : plan
    const send = (to: Connection): Promise<Rows> =>
      this.#options.isPooled || kind === 'each-time'
        ? inTransaction(to, this.begin(kind), text, parameters)
        : to.run(text, parameters, plan !== 'each-time')
    const group = this.#groupOf(plan, workload)
    const connection = group.choose()
    try {
      return (await send(connection)) as Answer<Row>
    } catch (error) {
      const isRead = !isLong && (plan ? plan !== 'noted' : selectShape.test(text))
      const other = connection.wasReady
        ? isRead && isLost(error) && group.choose()
        : (this.#shared.request.chooseLive() ?? this.#shared.long.chooseLive())
      if (!other || this.#isClosed) throw error
      return (await send(other)) as Answer<Row>
    }
  }

  #groupOf(plan: Plan | undefined, workload: Workload): SharedConnections {
    const shared = this.#shared
    const lone = shared[workload]
    if (this.#options.isPooled || !plan) return lone
    // A row by its id is as quickly there for a job; a cluster keeps no plan for it.
    if (plan === 'noted' || plan === 'once')
      return workload === 'long' && this.distribution.known ? lone : shared.once
    return workload === 'long' ? lone : shared.apart
  }

  /** Begins a transaction, with what its statements need. */
  begin(kind: keyof Sessions['begin'], modes = ''): string {
    return `begin${modes}${this.#sessions.begin[kind]}`
  }

  /** Several statements in one text, without parameters, on a connection that ends with them; answers all their rows. */
  async script<Row>(text: string): Promise<Row[]> {
    const connection = this.#open('long')
    try {
      const results: unknown[] = await connection.run(text, [])
      return results.flat() as Row[]
    } finally {
      connection.leave()
    }
  }

  /** A connection that nobody else uses until it is given back. */
  take(workload?: Workload): Promise<Connection> {
    return this.#exclusive.take(workload)
  }

  give(connection: Connection): void {
    this.#exclusive.give(connection)
  }

  get awayStores(): ReadonlySet<string> {
    return this.#away.stores
  }

  /** Throws `NotDirect` if a pooler of connections is in between that was not configured, or that cannot serve us. */
  async verify(): Promise<void> {
    await verify((text) => this.query(text, []), this.#sessions)
    if (this.#options.isPooled) await this.#openAll()
  }

  /** A pooler in session mode gives so many connections, and lets the next wait without a word. */
  async #openAll(): Promise<void> {
    const wanted = this.#options.exclusive + 2 * this.#options.reads + 1
    const opened = Array.from({ length: wanted - this.#all.size }, () => this.#open('request', 'slow'))
    try {
      await Promise.all(opened.map(({ ready }) => ready))
    } catch (error) {
      throw error instanceof DatabaseSilent ? tooFewConnections(wanted) : error
    } finally {
      for (const each of opened) each.leave()
    }
  }

  load(): { open: number; busy: number; waiting: number } {
    return { open: [...this.#all].filter(({ isLive }) => isLive).length, ...this.#exclusive.load }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.all([...this.#all].map((connection) => connection.close(closeSeconds)))
  }

  #ticks(ms: number): number {
    return Math.ceil(ms / this.#lookMs)
  }

  #share(profile: SharedProfile, aheadAtMost = 2): SharedConnections {
    return new SharedConnections({
      count: this.#options.reads,
      open: () => this.#open(profile),
      watch: this.#watch,
      aheadAtMost,
      restTicks: this.#ticks(triedAgainMs),
    })
  }

  #open(profile: SessionProfile, patience: Patience = profile === 'long' ? 'long' : 'request'): Connection {
    const { socket, name = usualName } = this.#options
    const startup = this.#sessions.startup(profile, this.distribution.known ?? false)
    const connection = new Connection({
      url: this.#address.url,
      options: {
        ...(socket ? { path: socket } : this.#address.options),
        types,
        connect_timeout: (socket ? turnMs : connectMs) / 1000,
        connection: { application_name: name, ...startup },
        prepare: !this.#options.isPooled,
      },
      watch: this.#watch,
      patience: this.#patience[patience],
      lastTick: this.#watch.tick + this.#ticks(lifetimeMs()),
      onGone: () => this.#all.delete(connection),
    })
    this.#all.add(connection)
    // A transaction that still waits is refused: a new connection would keep the process alive.
    if (this.#isClosed) connection.leave()
    return connection
  }

  /** Leaves connections that say nothing for too long, and refuses those who waited too long for one. */
  #look(): void {
    const { request, slow } = this.#patience
    const { known } = this.distribution
    this.#watch.tick += 1
    let longest = 0
    for (const connection of this.#all) {
      const { silentFor, isWorn, isSuspect, patience } = connection
      longest = Math.max(longest, silentFor)
      if (silentFor >= (isSuspect ? slow : patience)) connection.leave(silent())
      else if (isWorn && connection.open === 0 && !this.#exclusive.has(connection)) connection.leave()
    }
    const isDoubted = longest >= (known ? slow : request) || this.#away.nodes.length > 0
    if (isDoubted && !this.#isProbing && this.#watch.tick - this.#probedAt >= (known ? slow : request)) {
      void this.#lookBehind()
    }
    this.#exclusive.refuseLate()
  }

  /**
   * Asks on a new connection. Long work waits as long as the database answers others: where this one hears nothing either,
   * the server is gone. A coordinator's backend that waits for a node that hangs waits for ever, and
   * cannot even be cancelled; one that has no connection to it yet gives up within `nodeConnectMs`. So all other connections
   * are replaced, once for each node that hangs, and what was asked of the node's stores fails as it does where it is gone.
   */
  async #lookBehind(): Promise<void> {
    this.#probedAt = this.#watch.tick
    const probe = this.#open('long', 'request')
    this.#isProbing = true
    try {
      await probe.ready
      if (!this.distribution.known) return
      const away = await awayOf(
        async <Row>(text: string, parameters: readonly unknown[]) =>
          (await probe.run(text, parameters)) as Row[],
      )
      const isNew = away.nodes.some((node) => !this.#away.nodes.includes(node))
      this.#away = away
      if (isNew) for (const each of this.#all) each.isSuspect = each !== probe
    } catch (error) {
      // A refusal is a sign of life too.
      if (!this.#isClosed && sqlStateShape.test(String((error as { code?: unknown }).code))) return
      for (const each of this.#all) if (each.silentFor >= this.#patience.request) each.leave(silent())
    } finally {
      this.#isProbing = false
      probe.leave()
    }
  }
}

/** A transaction of one statement, in one packet: what is set for it is gone before the connection is another's. */
async function inTransaction(
  connection: Connection,
  begin: string,
  text: string,
  parameters: readonly unknown[],
): Promise<Rows> {
  const [begun, answered, ended] = await Promise.allSettled([
    connection.run(begin, []),
    connection.run(text, parameters),
    connection.run('commit', []),
  ])
  for (const each of [begun, answered, ended]) if (each.status === 'rejected') throw each.reason
  return (answered as PromiseFulfilledResult<Rows>).value
}

const closeSeconds = 2
const selectShape = /^\s*select\b/i
const sqlStateShape = /^[0-9A-Z]{5}$/
const silent = (): DatabaseSilent => new DatabaseSilent('The database does not answer')
const isLost = (error: unknown): boolean => error instanceof ConnectionLost || error instanceof DatabaseSilent
