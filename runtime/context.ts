/** What a handler or a job has in its hands. */
import { CompiledQuery, type DatabaseConnection, type Kysely, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Access, StoreFacts } from '#db/access'
import { findStoreFacts } from '#db/access'
import { type Database, type RootDatabase, reach } from '#db/database'
import type { Plan } from '#db/postgres/pool'
import type { Tables, TenantTables } from '#db/tables'
import { TenantWall } from '#db/wall'
import { followUp, untilItHolds } from '#runtime/database/anew'
import { Counting } from '#runtime/database/counting'
import type { Answer } from '#runtime/gateway/answers'
import type { Limits } from '#runtime/gateway/rate-limit'
import type { Handle } from '#runtime/jobs/handle'
import type { Queue, QueueOptions } from '#runtime/jobs/queue'
import type { Settings } from '#runtime/server/settings'
import { newId, sha256 } from '#runtime/values/ids'
import type { Wired } from '#runtime/wiring'
import type { Clock } from './clock.ts'
import type { Adapters } from './ports/adapters.ts'
import { mailOfStore } from './ports/heard.ts'
import type { Role } from './roles.ts'
import type { z } from './schema.ts'

/** Sees the rows of one store and no others. */
export type TenantDb = Kysely<TenantTables>

/** What the whole process shares. */
export interface Services {
  readonly settings: Settings
  readonly database: Database
  readonly clock: Clock
  readonly adapters: Adapters
  readonly queue: Queue
  readonly log: Logger
  readonly catalog: Catalog
  /** What sections give each other. */
  readonly wired: Wired
  /** Limits of what has no key. */
  readonly limits: Limits
  /** Makes every instance forget what it cached of a key; done once no instance can still act on it. */
  accessChanged(storeId: string): Promise<void>
  /** Adds one to a counter that a section declares (`counters`), for `/metrics`. */
  count(counter: string, labels: Record<string, string>): void
  /** Aborted when the job that holds these is to end: whatever waits in it waits no longer. Never, for a request. */
  readonly ending: AbortSignal
}

/** What a handler may know of the other operations and jobs. */
export interface Catalog {
  /** The OpenAPI document. */
  document(): string
  /** The descriptors of what the holder of a key may run at `now` (milliseconds), in the order of the documents. */
  runnable(access: Access, now: number): string[]
  /** False where there is no such operation. */
  mayRun(id: string, access: Access, now: number): boolean
  /** What the reading operation of this path answers; undefined where this server has none. */
  read(ctx: Context, path: string, query: Record<string, string>): Promise<unknown>
  /** `tellsOfFailure`: where it is given up, it does that itself. */
  job(name: string): { description: string; tellsOfFailure: boolean } | undefined
}

/** What the sandbox may ask of who runs the jobs of this process. */
export interface JobRunner {
  drain(timeoutMs: number): Promise<{ ran: number; failed: number; pending: number }>
  clockMoved(): void
}

/** What a request holds of its Idempotency-Key, as its transactions see it. */
export interface Claim {
  /** Throws where the key is another's by now. */
  confirm(tx: Context): Promise<void>
  /** The last statement of a transaction that has none; null: it needs none. */
  closing(tx: Context): (() => Promise<void>) | null
  /** Whoever runs the request again finds by its key what was done. */
  resumes(): void
  /** Keeps the answer as the last statement of the transaction that it is of. */
  keepAtLast(tx: Context, answer: Answer): Promise<void>
}

/** Who acts: the creator of a key, or a job on behalf of who queued it. */
export interface Actor {
  kind: 'key' | 'job'
  userId: string | null
  role: Role
  scopes: ReadonlySet<string>
  requestId: string
  keyId: string | null
  /** Of a write that carries one: it may come again after a crash. */
  idempotencyKey?: string | null
  /** On that key: a transaction of one who lost it does not hold. */
  claim?: Claim | null
  /** Asked at the beginning of the first transaction that holds, in it; what it throws ends it. */
  guard?: ((tx: Context) => Promise<void>) | null
  /** What `refusalOf` asks, as found for this request; null for a job and for a caller without a key. */
  access: Access | null
}

export interface Queued {
  jobId: string
  status: 'queued'
}

type Mode = 'open' | 'statement' | 'transaction'

export class Context {
  readonly services: Services
  readonly store: StoreFacts
  readonly actor: Actor
  readonly log: Logger
  readonly #mode: Mode
  readonly #transaction: Transaction<Tables> | null
  readonly #afterCommit: (() => Promise<void> | void)[]
  #closing: (() => Promise<void>) | null = null
  #handed: DatabaseConnection | null = null // what the closing statement goes by
  #adapters: Adapters | null = null
  #db: TenantDb | null = null
  #statements = 0

  constructor(
    services: Services,
    store: StoreFacts,
    actor: Actor,
    log: Logger,
    within?: { mode: Mode; transaction?: Transaction<Tables>; afterCommit?: (() => Promise<void> | void)[] },
  ) {
    reach(services.database, store.id)
    this.services = services
    this.store = store
    this.actor = actor
    this.log = log
    this.#mode = within?.mode ?? 'open'
    this.#transaction = within?.transaction ?? null
    this.#afterCommit = within?.afterCommit ?? []
  }

  get clock(): Clock {
    return this.services.clock
  }
  get adapters(): Adapters {
    const { adapters } = this.services
    this.#adapters ??= { ...adapters, mail: mailOfStore(adapters.mail, this.store.id) }
    return this.#adapters
  }
  get settings(): Settings {
    return this.services.settings
  }
  /** What sections give each other (`wiring.ts`). */
  get wired(): Wired {
    return this.services.wired
  }
  /**
   * The request's Idempotency-Key, for a handler that finds by it what an earlier run of the same request has done: such
   * a request is run again where its answer was lost.
   */
  get resumeKey(): string | null {
    this.actor.claim?.resumes()
    return this.actor.idempotencyKey ?? null
  }
  /** What a provider knows a send by, where no row does: its Idempotency-Key's that day, the same where it is run again. */
  sendKey(prefix: string): string {
    const key = this.resumeKey
    if (key === null) return `${prefix}${this.newId()}`
    return `${prefix}${sha256(JSON.stringify([this.store.id, key, this.now().toISOString().slice(0, 10)]))}`
  }
  get inTransaction(): boolean {
    return this.#transaction !== null
  }
  now(): Date {
    return this.services.clock.now()
  }
  /** A new id that sorts by the clock's time. */
  newId(): string {
    return newId(this.services.clock.ms())
  }

  /** The store's rows, inside the transaction where there is one. */
  get db(): TenantDb {
    if (!this.#db) {
      const walled = (this.#transaction ?? this.services.database.root).withPlugin(
        new TenantWall(this.store.id),
      )
      this.#db = (this.#mode === 'statement'
        ? walled.withPlugin(new Counting(() => this.#count()))
        : walled) as unknown as TenantDb
    }
    return this.#db
  }

  /** Runs text that `prepared` compiled behind the wall. Nobody else calls it. */
  run<Row>(text: string, parameters: unknown[], plan?: Plan): Promise<Row[]> {
    if (this.#mode === 'statement') this.#count()
    if (!this.#transaction) return this.services.database.query<Row>(text, parameters, plan)
    const by = this.#handed ?? this.#transaction
    return by.executeQuery<Row>(CompiledQuery.raw(text, parameters)).then(({ rows }) => rows)
  }

  /**
   * One transaction; inside one already, a part of it. What `fn` throws undoes it all. It may be run more than once: where
   * it and another could not both hold it begins anew.
   */
  async transaction<T>(fn: (ctx: Context) => Promise<T>, isolationLevel?: 'repeatable read'): Promise<T> {
    if (this.#transaction) return fn(this)
    const { result, afterCommit } = await untilItHolds(this.log, this.store.id, () =>
      this.#transact(fn, isolationLevel),
    )
    await followUp(this.log, afterCommit)
    return result
  }

  async #transact<T>(fn: (ctx: Context) => Promise<T>, isolationLevel: 'repeatable read' | undefined) {
    const afterCommit: (() => Promise<void> | void)[] = []
    const begin = this.services.database.root.transaction()
    const { guard } = this.actor
    if (guard) this.actor.guard = null
    const isolation = guard ? 'repeatable read' : isolationLevel
    let closing: Promise<void> | undefined
    const work = async (transaction: Transaction<Tables>) => {
      const within = new Context(this.services, this.store, this.actor, this.log, {
        mode: 'transaction',
        transaction,
        afterCommit,
      })
      await guard?.(within)
      const done = await fn(within)
      const { claim } = this.actor
      await claim?.confirm(within)
      // Handed over while nobody else has the turn, whoever was not awaited: so it leaves before the commit.
      await transaction.getExecutor().provideConnection(async (connection) => {
        within.#handed = connection
        closing = (within.#closing ?? claim?.closing(within))?.()
        closing?.catch(() => undefined) // heard below
        within.#handed = null
      })
      return done
    }
    const result = await (isolation ? begin.setIsolationLevel(isolation) : begin)
      .execute(work)
      .catch(async (error) => {
        // Nothing of it holds: the guard is asked in the next one.
        if (guard) this.actor.guard = guard
        await closing // its reason comes first: the commit only says that there was one
        throw error
      })
    await closing
    return { result, afterCommit }
  }

  /** A read-only transaction, as the tests run every `readOnly` operation. */
  async readOnly<T>(fn: (ctx: Context) => Promise<T>): Promise<T> {
    const begin = this.services.database.root.transaction().setAccessMode('read only')
    return begin.execute((transaction) =>
      fn(new Context(this.services, this.store, this.actor, this.log, { mode: 'transaction', transaction })),
    )
  }

  /** The same, for who holds a claim on an Idempotency-Key. */
  holding(claim: Claim): Context {
    return new Context(this.services, this.store, { ...this.actor, claim }, this.log)
  }

  /** The same, whose first transaction that holds fails where `guard` throws, or what it read is another's by its end. */
  guarded(guard: (tx: Context) => Promise<void>): Context {
    return new Context(this.services, this.store, { ...this.actor, guard }, this.log)
  }

  /**
   * The same for what is only observed, as a copy of a platform's catalog: its transactions are no part of what the request
   * does, and neither use up its guard nor say of its key that something was done.
   */
  observing(): Context {
    if (this.#transaction) return this
    return new Context(this.services, this.store, { ...this.actor, claim: null, guard: null }, this.log)
  }

  /** A context whose handler may run a single statement. */
  forOneStatement(): Context {
    return new Context(this.services, this.store, this.actor, this.log, { mode: 'statement' })
  }

  /**
   * Queues a job, in the transaction that is open: both happen or neither does. Of a job that runs one at a time, one
   * that waits already is answered instead of a second.
   */
  async queue<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    payload: z.input<P>,
    options?: QueueOptions,
  ): Promise<Queued> {
    if (this.#mode === 'statement') throw new Error('A single statement cannot queue a job as well')
    const jobId = await this.services.queue.send(
      handle,
      { storeId: this.store.id, userId: this.actor.userId, requestId: this.actor.requestId, payload },
      { ...options, transaction: this.#transaction, afterCommit: (act) => this.afterCommit(act) },
    )
    return { jobId, status: 'queued' }
  }

  /** Done once the transaction holds, before the answer leaves; at once where there is none. */
  async afterCommit(act: () => Promise<void> | void): Promise<void> {
    if (this.#transaction) this.#afterCommit.push(act)
    else await act()
  }

  /**
   * The transaction's last statement, a prepared one, which leaves together with its commit. It has to fail, and not only
   * tell, where the transaction is not to hold.
   */
  closeWith(statement: () => Promise<void>): void {
    this.#closing = statement
  }

  /**
   * A row lock on the store: decisions over several of its rows take turns. The row is written, not only locked: one that
   * compares an If-Match goes on with what it saw before it waited, and by this it is ended and begins anew.
   */
  async lockStore(): Promise<void> {
    // No column of its key: that would hold up every insert of the store, whose foreign key reads the row.
    await this.db
      .updateTable('stores')
      .set((eb) => ({ storefront_revision: eb.ref('storefront_revision') }))
      .execute()
  }

  /** For doors into the server's own tables (provider events, rates of numbers): inside the transaction. */
  get system(): RootDatabase {
    return this.#transaction ?? this.services.database.root
  }

  #count(): void {
    this.#statements += 1
    if (this.#statements > 1) throw new Error("transaction: 'statement' allows one statement: use 'whole'")
  }
}

/** What a job of the server and a page outside `/v1` have: every store, one at a time. */
export class SystemContext {
  readonly services: Services
  readonly log: Logger
  readonly requestId: string
  /** Of this process, for the sandbox's clock and its draining of jobs. */
  readonly worker: JobRunner | null
  readonly root: RootDatabase
  /** `root`: one that sees some stores alone, for looks over all of them; a store's own context asks whom it has to. */
  constructor(
    services: Services,
    log: Logger,
    requestId: string,
    { worker = null, root = services.database.root }: { worker?: JobRunner | null; root?: RootDatabase } = {},
  ) {
    this.services = services
    this.log = log
    this.requestId = requestId
    this.worker = worker
    this.root = root
  }
  get clock(): Clock {
    return this.services.clock
  }
  get adapters(): Adapters {
    return this.services.adapters
  }
  get settings(): Settings {
    return this.services.settings
  }
  get wired(): Wired {
    return this.services.wired
  }
  now(): Date {
    return this.services.clock.now()
  }
  /** The context of one store, or null when there is none. */
  async forStore(storeId: string, userId: string | null = null): Promise<Context | null> {
    const store = await findStoreFacts(this.services.database, storeId)
    return store && new Context(this.services, store, jobActor(userId, this.requestId), this.log)
  }
  async queue<P extends z.ZodTypeAny>(
    handle: Handle<P>,
    payload: z.input<P>,
    options?: QueueOptions,
  ): Promise<Queued> {
    const jobId = await this.services.queue.send(
      handle,
      { storeId: null, userId: null, requestId: this.requestId, payload },
      { ...options, transaction: options?.transaction ?? null },
    )
    return { jobId, status: 'queued' }
  }
}

/** A job may do what its cause was allowed to do: that was checked when it was queued. */
export const jobActor = (userId: string | null, requestId: string): Actor => ({
  kind: 'job',
  userId,
  role: 'owner',
  scopes: new Set(),
  requestId,
  keyId: null,
  access: null,
})
