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
  longStatementMs,
  silenceMs,
  turnMs,
  usualDeadlines,
} from '../deadlines.ts'
import { type PostgresAddress, readAddress } from './address.ts'
import { Client, type ClientParts, SharedClients, type Watch } from './client.ts'
import { Distribution } from './distribution.ts'
import { Nodes } from './nodes.ts'
import {
  allWithin,
  type Pace,
  type SessionKind,
  type Sessions,
  sessionsOf,
  verified,
  type Way,
} from './sessions.ts'
import { types } from './values.ts'
import type { Plan, PoolOptions, PostgresPool, Waiting } from './ways.ts'

export type { Pace } from './sessions.ts'
export type { Plan, PostgresPool } from './ways.ts'

/** Who our connections say that they are. */
export const usualName = 'merchant-api'

/** Opens no connection yet: each client connects at its first query. */
export function postgresPool(url: string, options: PoolOptions): PostgresPool {
  return new Pool(url, options)
}

/** The pool looks at its clients so often within the shortest time that it may have to notice. */
const looksAtLeast = 5
const lookEveryMs = 1000
/** Who could not connect tries again by itself, so that no request has to find out. */
const triedAgainMs = 5_000

class Pool implements PostgresPool {
  readonly #address: PostgresAddress
  readonly #sizes: PoolOptions
  readonly #sessions: Sessions
  readonly #watch: Watch = { turn: 0 }
  readonly #lookMs: number
  readonly #timer: NodeJS.Timeout
  readonly #requestTurns: number
  readonly #longTurns: number
  readonly #shared: SharedClients
  /** How a statement is planned, and how long it may take, are settings of its connection. */
  readonly #plannedOnce: SharedClients
  /** In its place on a cluster. */
  readonly #indexed: SharedClients
  readonly #long: SharedClients
  readonly #exclusive = new Set<Client>()
  readonly #idle: Client[] = []
  readonly #waiting: Waiting[] = []
  /** A connection anew, while those there say nothing. */
  #witness: Client | null = null
  #askedAt = 0
  readonly #slowTurns: number
  readonly #nodes: Nodes
  #isClosed = false
  readonly distribution: Distribution

  constructor(url: string, sizes: PoolOptions) {
    const { statementMs } = sizes.deadlines ?? usualDeadlines
    const heardMs = silenceMs({ statementMs })
    this.#address = readAddress(url)
    this.#sizes = sizes
    // Another process's PGlite is none.
    this.distribution = new Distribution((text) => this.query(text, []), sizes.socket ? false : null)
    this.#lookMs = Math.min(lookEveryMs, heardMs / looksAtLeast)
    this.#requestTurns = this.#turns(heardMs)
    this.#slowTurns = this.#turns(Math.min(connectMs, heardMs))
    this.#longTurns = this.#turns(silenceMs({ statementMs: longStatementMs }))
    this.#sessions = sessionsOf({ statementMs, socket: sizes.socket, isPooled: sizes.isPooled ?? false })
    this.#shared = this.#group('request', this.#requestTurns)
    this.#plannedOnce = this.#group('once', this.#requestTurns)
    this.#indexed = this.#group('indexed', this.#requestTurns)
    // Behind a statement that takes minutes a sign of life would come too late, while other connections have nothing to do.
    this.#long = this.#group('long', this.#longTurns, 0)
    this.#nodes = new Nodes({
      everyTurns: this.#slowTurns,
      open: () => this.#open('bare', { patience: this.#requestTurns }),
      suspectAll: () => {
        for (const client of this.#all()) client.isSuspect = client !== this.#nodes.witness
      },
    })
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref()
  }

  query<Row>(text: string, parameters: readonly unknown[], wanted?: Plan, pace?: Pace) {
    type Answer = Row[] & { count: number | null }
    const plan = wanted === 'noted' ? 'once' : wanted
    if (this.#sizes.isPooled)
      return this.#alone<Answer>(text, parameters, plan === 'once' && pace !== 'long' ? 'once' : pace)
    if ((plan === 'each-time' || plan === 'apart') && pace !== 'long') {
      return this.#byItself<Answer>(text, parameters, plan)
    }
    if (plan === 'once' && this.distribution.known !== false) {
      return this.#once<Answer>(text, parameters, pace)
    }
    // A row by its id is as quickly there for a job; and what was never prepared has no plan to keep.
    const group = plan === 'once' ? this.#plannedOnce : pace === 'long' ? this.#long : this.#shared
    return group.choose().run(text, parameters, plan !== 'each-time') as Promise<Answer>
  }

  /**
   * A cluster has to see the store to know the shard, and refuses to plan a join without the values: there no plan is
   * kept whatever the values.
   */
  async #once<Answer>(text: string, parameters: readonly unknown[], pace?: Pace): Promise<Answer> {
    const isDistributed = await this.distribution.isDistributed()
    const group = !isDistributed ? this.#plannedOnce : pace === 'long' ? this.#long : this.#indexed
    return (await group.choose().run(text, parameters)) as unknown as Answer
  }

  /**
   * Where transactions are. It takes longer than others: on a connection of its own it holds none of them up. A cluster,
   * whose plans are not kept, plans for the values.
   */
  async #byItself<Answer>(
    text: string,
    parameters: readonly unknown[],
    plan: 'each-time' | 'apart',
  ): Promise<Answer> {
    const isKept = plan === 'apart' && !(await this.distribution.isDistributed())
    const client = await this.take(isKept ? 'apart' : 'anew')
    try {
      const [answer] = await Promise.all([client.run(text, parameters), client.changed])
      return answer as unknown as Answer
    } finally {
      this.give(client)
    }
  }

  /** A transaction of its own, in one packet: what is set for it is gone before the connection is another's. */
  async #alone<Answer>(
    text: string,
    parameters: readonly unknown[],
    pace: Pace | 'once' = 'request',
  ): Promise<Answer> {
    const client = (pace === 'long' ? this.#long : this.#shared).choose()
    const [begun, answered, ended] = await Promise.allSettled([
      client.run(this.begin(pace), []),
      client.run(text, parameters, false),
      client.run('commit', []),
    ])
    for (const each of [begun, answered, ended]) if (each.status === 'rejected') throw each.reason
    return (answered as PromiseFulfilledResult<unknown>).value as Answer
  }

  begin(pace: Pace | 'once', modes = ''): string {
    return `begin${modes}${this.#sessions.begin[pace]}`
  }

  get awayStores(): ReadonlySet<string> {
    return this.#nodes.away.stores
  }

  async verify(): Promise<void> {
    await verified(this, this.#sessions)
    if (this.#sizes.isPooled) await this.#haveAll()
  }

  /** A pooler in session mode gives so many connections, and lets the next wait without a word. */
  async #haveAll(): Promise<void> {
    const taken: Client[] = []
    const spare = this.#open('bare', { patience: this.#requestTurns })
    const shared = [this.#shared, this.#long].flatMap(({ clients }) => clients)
    const all = [
      ...[...shared, spare].map((client) => client.run('select 1', [])),
      ...Array.from({ length: this.#sizes.exclusive }, async () => taken.push(await this.take())),
    ]
    try {
      await allWithin(connectMs, all)
    } finally {
      for (const client of taken) this.give(client)
      void spare.close(0)
    }
  }

  async script<Row>(text: string): Promise<Row[]> {
    const client = await this.take('long')
    const beforeAll = this.#sessions.script
    const ran = async (script: string): Promise<Row[]> => {
      const results: unknown[] = await client.run(script, [])
      return results.flat() as Row[]
    }
    try {
      return await ran(beforeAll + text)
    } catch (error) {
      if (client.live) await client.run('rollback', [])
      // What refuses to stand in a transaction (`reindex … concurrently`) has done nothing, and takes no settings.
      if (beforeAll && (error as { code?: unknown }).code === '25001') return await ran(text)
      throw error
    } finally {
      client.way = null // whatever the text has set
      this.give(client)
    }
  }

  async take(way: Way = 'request'): Promise<Client> {
    const idle = this.#idlest(way)
    if (idle) return this.#for(way, idle)
    if (this.#exclusive.size < this.#sizes.exclusive) {
      try {
        return this.#for(way, await this.#connect())
      } catch (error) {
        // With few connections left the ones that live are waited for.
        if (this.#exclusive.size === 0) throw error
      }
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ way, since: this.#watch.turn, resolve, reject })
    })
  }

  /** The last that was given back, of those that went this way if there are any: the others have to be told first. */
  #idlest(way: Way): Client | undefined {
    for (let at = this.#idle.length - 1; at >= 0; at -= 1) {
      if (!this.#idle[at]!.live) this.#drop(this.#idle.splice(at, 1)[0]!)
    }
    const at = this.#idle.findLastIndex((client) => client.way === way)
    return at < 0 ? this.#idle.pop() : this.#idle.splice(at, 1)[0]
  }

  give(client: Client): void {
    const isLive = client.live && !client.isWorn
    if (!isLive) this.#drop(client)
    const first = this.#waiting.shift()
    if (!first) {
      if (isLive) this.#idle.push(client)
      return
    }
    if (isLive) first.resolve(this.#for(first.way, client))
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

  #turnsOf(way: Way): number {
    return way === 'long' ? this.#longTurns : this.#requestTurns
  }

  #for(way: Way, client: Client): Client {
    client.patience = this.#turnsOf(way)
    client.goBy(way, this.#sessions.change[way])
    return client
  }

  #group(kind: SessionKind, patience: number, aheadAtMost?: number): SharedClients {
    const isTogether = this.#sizes.isPooled ?? false
    return new SharedClients(
      this.#sizes.reads,
      (changed) => this.#open(kind, { patience, isTogether, changed, instead: () => this.#anyLive() }),
      aheadAtMost,
    )
  }

  /** One of another kind is better than none: what differs is how long statements may take, and if writes wait for the disk. */
  #anyLive(): Client | null {
    return this.#shared.chooseLive() ?? this.#long.chooseLive()
  }

  #open(kind: SessionKind, parts: Omit<ClientParts, 'url' | 'options' | 'watch'>): Client {
    const { socket, name = usualName } = this.#sizes
    const options = {
      ...(socket ? { path: socket } : this.#address.options),
      types,
      connect_timeout: (socket ? turnMs : connectMs) / 1000,
      // Tries soon, however often it failed before: a request waits.
      backoff: (retries: number) => Math.min(3 ** retries / 100, 0.5),
      connection: { application_name: name, ...this.#sessions.startup[kind] },
      prepare: !this.#sizes.isPooled,
      onnotice: () => {},
    }
    return new Client({ url: this.#address.url, options, watch: this.#watch, ...parts })
  }

  /** One more client for transactions; it has its connection. */
  async #connect(): Promise<Client> {
    const client = this.#open('transactions', { patience: this.#requestTurns, isTogether: true })
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
      first.resolve(this.#for(first.way, await this.#connect()))
    } catch (error) {
      // Given back meanwhile, when nobody waited.
      const idle = this.#idlest(first.way)
      if (idle) first.resolve(this.#for(first.way, idle))
      else if (this.#exclusive.size === 0) first.reject(error)
      else this.#waiting.unshift(first)
    }
  }

  #drop(client: Client): void {
    this.#exclusive.delete(client)
    void client.close(0)
  }

  #all(): Client[] {
    const groups = [this.#shared, this.#plannedOnce, this.#indexed, this.#long]
    const clients = [...groups.flatMap((group) => group.clients), ...this.#exclusive]
    return [...clients, ...[this.#witness, this.#nodes.witness].filter((each) => each !== null)]
  }

  /** One turn: gives up who has heard nothing for too long, and those who waited too long for a client. */
  #look(): void {
    this.#watch.turn += 1
    const { turn } = this.#watch
    let isDoubted = false
    let isSlow = false
    for (const client of this.#all()) {
      const { silentFor } = client
      if (silentFor >= this.#slowTurns) isSlow = true
      if (silentFor >= (client.isSuspect ? this.#slowTurns : client.patience)) client.giveUp(silent())
      else if (client.isWorn && client.open === 0 && !this.#isTaken(client)) client.renew()
      else if (silentFor >= this.#requestTurns) isDoubted = true
      if (client.isFailing && client.open === 0 && turn - client.failedAt >= this.#turns(triedAgainMs)) {
        client.run('select 1', []).catch(() => undefined) // stays as it is
      }
    }
    if (this.distribution.known) this.#nodes.look(turn, isSlow)
    if (isDoubted && !this.#witness && turn - this.#askedAt >= this.#requestTurns) void this.#askAnew()
    const late = this.#waiting.filter(({ way, since }) => turn - since >= this.#turnsOf(way))
    for (const each of late) {
      this.#waiting.splice(this.#waiting.indexOf(each), 1)
      each.reject(new DatabaseSilent('No connection to the database became free in time'))
    }
  }

  /**
   * Long work waits as long as the database is there for others. Where a new connection hears nothing either, nobody is
   * at the other end.
   */
  async #askAnew(): Promise<void> {
    this.#askedAt = this.#watch.turn
    const witness = this.#open('bare', { patience: this.#turns(connectMs) })
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

  /** Somebody's who may be between two statements of a transaction. */
  #isTaken(client: Client): boolean {
    return this.#exclusive.has(client) && !this.#idle.includes(client)
  }
}

const silent = (): DatabaseSilent => new DatabaseSilent('The database does not answer')
const sqlStateShape = /^[0-9A-Z]{5}$/
