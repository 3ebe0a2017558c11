/**
 * The connection pool for a PostgreSQL server, built on postgres.js and optimized for many small statements. Reads are
 * pipelined on a few shared connections, which saves a quarter of a read's CPU time. A read behind a slow one is sent
 * again, on a connection of its own. Writes, transactions and slow reads have connections of their own from the start,
 * in rooms (`room.ts`).
 */

import { Distribution } from '../citus/distribution.ts'
import { findUnreachableNodes, type UnreachableNodes } from '../citus/nodes.ts'
import {
  ConnectionLost,
  connectMs,
  DatabaseUnresponsive,
  type Deadlines,
  defaultDeadlines,
  embeddedTurnMs,
  longStatementMs,
  NoConnectionFree,
  toSilenceMs,
} from '../deadlines.ts'
import { FileAddresses } from '../file-addresses.ts'
import { findOwner } from '../owner.ts'
import { type PostgresAddress, parseAddress } from './address.ts'
import { Connection, HeldUp, type Rows, type Watch } from './connection.ts'
import { type Owner, Room } from './room.ts'
import {
  buildSessions,
  type SessionProfile,
  type Sessions,
  tooFewConnectionsError,
  verify,
  type Workload,
} from './sessions.ts'
import { SharedConnections } from './shared.ts'
import { isRead, isSelect, runInTransaction } from './statements.ts'
import { buildTypes } from './values.ts'

export type { Workload } from './sessions.ts'

/**
 * How a statement is planned. `once`: PostgreSQL keeps one plan for all values; for reads, and for the counting of
 * requests, which may then be counted twice if the database hangs. `noted`: for a write that a crash of the database may
 * lose if it happened in the last second. `apart`: like `once`, for statements that may take long. `each-time`: planned
 * for the values of each call. Without a plan PostgreSQL decides.
 */
export type Plan = 'once' | 'noted' | 'apart' | 'each-time'

/** The application name of our connections. */
export const defaultName = 'merchant-api'

export interface PoolOptions {
  name?: string | undefined
  /** Connections of each session profile for single statements; twice as many for slow ones. */
  reads: number
  /** Connections for transactions and for writes of requests. */
  exclusive: number
  /** The unix socket where another process serves its PGlite. */
  socket?: string | undefined
  /** A pooler such as PgBouncer is in between, which reassigns a connection after each transaction. */
  isPooled?: boolean
  deadlines?: Pick<Deadlines, 'statementMs'>
}

type Answer<Row> = Row[] & Pick<Rows, 'count'>
type Patience = Workload | 'slow'
type SharedProfile = 'request' | 'once'

/** Checks within the shortest time limit. */
const leastChecks = 5
const checkEveryMs = 200
const retryAfterMs = 5_000
/** How long a full disk is reported after a statement failed because of it. */
const diskFullMs = 60_000
/** How long a connection is used. It is replaced, since PostgreSQL's cache for it grows; at random, not all at once. */
const lifetimeMs = (): number => (30 + 30 * Math.random()) * 60_000

export class PostgresPool {
  readonly #address: PostgresAddress
  readonly #options: PoolOptions
  readonly #sessions: Sessions
  readonly fileAddresses = new FileAddresses()
  readonly #types = buildTypes((text) => this.fileAddresses.toCurrent(text))
  readonly #watch: Watch = { tick: 0 }
  readonly #tickMs: number
  readonly #timer: NodeJS.Timeout
  /** In ticks. */
  readonly #patience: Record<Patience, number>
  readonly #all = new Set<Connection>()
  readonly #shared: Record<SharedProfile, SharedConnections>
  readonly #rooms: Record<Exclude<SessionProfile, SharedProfile>, Room>
  #isProbing = false
  #isClosed = false
  #probedAt = 0
  #diskFullTick = Number.NEGATIVE_INFINITY
  #unreachable: UnreachableNodes = { nodes: [], stores: new Set() }
  readonly distribution: Distribution

  /** Opens no connection yet: each is opened at its first statement. */
  constructor(url: string, options: PoolOptions) {
    const { statementMs } = options.deadlines ?? defaultDeadlines
    const silentAfterMs = toSilenceMs({ statementMs })
    this.#address = parseAddress(url)
    this.#options = options
    // Behind a socket there is another process's PGlite, which is never a cluster.
    this.distribution = new Distribution((text) => this.query(text, []), options.socket ? false : null)
    this.#tickMs = Math.min(checkEveryMs, silentAfterMs / leastChecks)
    this.#patience = {
      request: this.#ticks(silentAfterMs),
      long: this.#ticks(toSilenceMs({ statementMs: longStatementMs })),
      slow: this.#ticks(Math.min(connectMs, silentAfterMs)),
    }
    const kind = options.socket ? 'embedded' : options.isPooled ? 'pooled' : 'direct'
    this.#sessions = buildSessions(kind, { statementMs })
    const { reads, exclusive, isPooled } = options
    this.#shared = { request: this.#share('request'), once: this.#share('once') }
    const transactions = this.#makeRoom('transactions', exclusive)
    this.#rooms = {
      transactions,
      long: this.#makeRoom('long', reads),
      // Through a pooler all connections are alike, and there should be no more of them.
      apart: isPooled ? transactions : this.#makeRoom('apart', 2 * reads),
    }
    this.#timer = setInterval(() => this.#check(), this.#tickMs).unref()
  }

  /**
   * Runs one statement. If its connection could not be opened, another one is tried. If its connection was lost, a read
   * is repeated once: a statement with a read plan, or a `select` of a request, which therefore must not call a
   * function that writes. Any other statement then fails with an indeterminate outcome.
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
    const kind = isLong || !plan || plan === 'apart' ? workload : plan
    const send =
      (as: keyof Sessions['begin']) =>
      (to: Connection): Promise<Rows> =>
        this.#options.isPooled || as === 'each-time' || as === 'noted'
          ? runInTransaction(to, this.begin(as), text, parameters)
          : to.run(text, parameters, plan !== 'each-time')
    const place = this.#choosePlace(text, plan, workload)
    const run = async (): Promise<Rows> => {
      if (place instanceof Room) return this.#runIn(place, workload, text, send(kind))
      try {
        return await this.#runShared(place, send(kind))
      } catch (error) {
        if (!(error instanceof HeldUp)) throw error
        // Planned as on the shared connection.
        return this.#runIn(this.#rooms.apart, workload, text, send(plan === 'once' ? kind : 'each-time'))
      }
    }
    try {
      return (await run()) as Answer<Row>
    } catch (error) {
      const isRepeatable = !isLong && (plan ? plan !== 'noted' : isSelect(text))
      if (!isRepeatable || !isLost(error) || this.#isClosed) throw error
      return (await run()) as Answer<Row>
    }
  }

  /** Runs a read on a shared connection. If it could not be opened, another one is used. */
  async #runShared(group: SharedConnections, send: (to: Connection) => Promise<Rows>): Promise<Rows> {
    const connection = group.choose()
    if (!connection) throw new HeldUp('All connections are busy with slow statements')
    try {
      return await connection.share(send)
    } catch (error) {
      const other = connection.wasReady || this.#isClosed ? null : this.#shared.request.chooseLive()
      if (!other) throw error
      return other.share(send)
    }
  }

  /** Runs a statement on a connection of a room. If the server has none left for the room, a shared one is used. */
  async #runIn(
    room: Room,
    workload: Workload,
    text: string,
    send: (to: Connection) => Promise<Rows>,
  ): Promise<Rows> {
    const { apart, long } = this.#rooms
    // Only jobs use that room.
    const use =
      room === long
        ? { workload, owner: null }
        : { workload: room === apart ? ('request' as const) : workload, owner: findOwnerOf(workload), text }
    let connection: Connection
    try {
      connection = await room.take(use)
    } catch (error) {
      const other = room.size > 0 || this.#isClosed ? null : this.#shared.request.chooseLive()
      if (!other) throw error
      return send(other)
    }
    try {
      return await send(connection)
    } finally {
      room.give(connection)
    }
  }

  /**
   * A request's write has a connection of those for transactions, so that blocked writes delay no read. `noted` is run
   * there in a transaction of its own.
   */
  #choosePlace(text: string, plan: Plan | undefined, workload: Workload): SharedConnections | Room {
    const { request, once } = this.#shared
    const { apart, long, transactions } = this.#rooms
    const isLong = workload === 'long'
    if (plan === 'noted') return transactions
    // A job may read a row by its id on a request's connection; but not on a cluster, which keeps no generic plans.
    if (plan === 'once' && !this.#options.isPooled) return isLong && this.distribution.known ? long : once
    if (isLong) return long
    if (plan === 'apart' || plan === 'each-time') return apart
    return plan || isRead(text) ? request : transactions
  }

  /** The text that begins a transaction, with its settings. */
  begin(kind: keyof Sessions['begin'], modes = ''): string {
    return `begin${modes}${this.#sessions.begin[kind]}`
  }

  /** Runs several statements in one text, without parameters, on a connection of their own; returns all their rows. */
  async script<Row>(text: string): Promise<Row[]> {
    const connection = this.#open('long')
    try {
      const results: unknown[] = await connection.run(text, [])
      return results.flat() as Row[]
    } finally {
      connection.leave()
    }
  }

  /** Takes a connection that no other caller uses until it is given back. */
  take(workload: Workload = 'request'): Promise<Connection> {
    return this.#rooms.transactions.take({ workload, owner: findOwnerOf(workload) })
  }

  give(connection: Connection): void {
    this.#rooms.transactions.give(connection)
  }

  get unreachableStores(): ReadonlySet<string> {
    return this.#unreachable.stores
  }

  /** Throws `PoolerError` if an unconfigured connection pooler is in between, or one that cannot serve us. */
  async verify(): Promise<void> {
    await verify((text) => this.query(text, []), this.#sessions)
    if (this.#options.isPooled) await this.#openAll()
  }

  /**
   * Opens all connections, to find out whether a pooler in session mode allows that many: it lets others wait forever.
   */
  async #openAll(): Promise<void> {
    const wanted = this.#options.exclusive + 2 * this.#options.reads + 1
    const opened = Array.from({ length: wanted - this.#all.size }, () => this.#open('request', 'slow'))
    try {
      await Promise.all(opened.map(({ ready }) => ready))
    } catch (error) {
      throw error instanceof DatabaseUnresponsive ? tooFewConnectionsError(wanted) : error
    } finally {
      for (const each of opened) each.leave()
    }
  }

  load(): { open: number; busy: number; waiting: number; isDiskFull: boolean } {
    const loads = [...new Set(Object.values(this.#rooms))].map((room) => room.load)
    return {
      open: [...this.#all].filter(({ isLive }) => isLive).length,
      busy: loads.reduce((sum, { busy }) => sum + busy, 0),
      waiting: loads.reduce((sum, { waiting }) => sum + waiting, 0),
      isDiskFull: this.#watch.tick - this.#diskFullTick < this.#ticks(diskFullMs),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.all([...this.#all].map((connection) => connection.close(closeSeconds)))
  }

  #ticks(ms: number): number {
    return Math.ceil(ms / this.#tickMs)
  }

  #share(profile: SharedProfile): SharedConnections {
    return new SharedConnections({
      count: this.#options.reads,
      open: () => this.#open(profile),
      watch: this.#watch,
      aheadAtMost: 2,
      restTicks: this.#ticks(retryAfterMs),
    })
  }

  #makeRoom(profile: Exclude<SessionProfile, SharedProfile>, count: number): Room {
    return new Room({
      count,
      open: () => this.#open(profile),
      watch: this.#watch,
      patience: this.#patience,
      restTicks: this.#ticks(retryAfterMs),
    })
  }

  #open(profile: SessionProfile, patience: Patience = profile === 'long' ? 'long' : 'request'): Connection {
    const { socket, name = defaultName } = this.#options
    const startup = this.#sessions.startup(profile, this.distribution.known ?? false)
    const connection = new Connection({
      url: this.#address.url,
      options: {
        connect_timeout: (socket ? embeddedTurnMs : connectMs) / 1000,
        ...(socket ? { path: socket } : this.#address.options),
        types: this.#types,
        connection: { application_name: name, ...startup },
        prepare: !this.#options.isPooled,
      },
      watch: this.#watch,
      patience: this.#patience[patience],
      lastTick: this.#watch.tick + this.#ticks(lifetimeMs()),
      fileAddresses: this.fileAddresses,
      onGone: () => this.#all.delete(connection),
      onDiskFull: () => {
        this.#diskFullTick = this.#watch.tick
      },
    })
    this.#all.add(connection)
    // After `close`, a transaction that still waits fails: a new connection would keep the process alive.
    if (this.#isClosed) connection.leave()
    return connection
  }

  /** Closes silent connections, and fails callers that have waited too long for a connection. */
  #check(): void {
    const { request, slow } = this.#patience
    const { known } = this.distribution
    const rooms = Object.values(this.#rooms)
    this.#watch.tick += 1
    let longest = 0
    for (const connection of this.#all) {
      const { silentFor, isWorn, isSuspect, patience } = connection
      longest = Math.max(longest, silentFor)
      if (silentFor >= (isSuspect ? slow : patience)) connection.leave(unresponsiveError())
      else if (isWorn && connection.open === 0 && !rooms.some((room) => room.has(connection)))
        connection.leave()
      // Behind the socket of another process's PGlite, all statements wait for one another.
      else if (connection.isStuck && connection.isLive && !this.#options.socket) connection.releaseHeldUp()
    }
    const isDoubted = longest >= (known ? slow : request) || this.#unreachable.nodes.length > 0
    if (isDoubted && !this.#isProbing && this.#watch.tick - this.#probedAt >= (known ? slow : request)) {
      void this.#probe()
    }
    for (const room of rooms) room.refuseLate()
  }

  /**
   * Probes the server on a new connection. Long-running work may wait as long as the database answers others; if the
   * probe gets no answer, the server is gone. On a cluster, a connection whose backend waits for a hanging node waits
   * forever and cannot even be cancelled, while a new connection gives up within `nodeConnectMs`. So when a node hangs,
   * all other connections are replaced once. Statements on that node's stores then fail as if the node were down.
   */
  async #probe(): Promise<void> {
    this.#probedAt = this.#watch.tick
    const probe = this.#open('long', 'request')
    this.#isProbing = true
    try {
      await probe.ready
      if (!this.distribution.known) return
      const away = await findUnreachableNodes(
        async <Row>(text: string, parameters: readonly unknown[]) =>
          (await probe.run(text, parameters)) as Row[],
      )
      const isNew = away.nodes.some((node) => !this.#unreachable.nodes.includes(node))
      this.#unreachable = away
      if (isNew) for (const each of this.#all) each.isSuspect = each !== probe
    } catch (error) {
      // An error with an SQLSTATE is an answer too: the server works.
      if (!this.#isClosed && sqlStateShape.test(String((error as { code?: unknown }).code))) return
      for (const each of this.#all)
        if (each.silentFor >= this.#patience.request) each.leave(unresponsiveError())
    } finally {
      this.#isProbing = false
      probe.leave()
    }
  }
}

const closeSeconds = 2
/** All jobs together are one owner. */
const findOwnerOf = (workload: Workload): Owner => (workload === 'long' ? 'jobs' : findOwner())
const sqlStateShape = /^[0-9A-Z]{5}$/
const unresponsiveError = (): DatabaseUnresponsive => new DatabaseUnresponsive('The database does not answer')
const isLost = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  (error instanceof DatabaseUnresponsive && !(error instanceof NoConnectionFree))
