/** The contexts that handlers, jobs and pages get: access to one store's rows, services, transactions and jobs. */
import { CompiledQuery, type DatabaseConnection, type Kysely, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Access, StoreFacts } from '#db/access'
import { findStoreFacts } from '#db/access'
import { type Database, type RootDatabase, requireReachable } from '#db/database'
import type { Plan } from '#db/postgres/pool'
import type { Tables, TenantTables } from '#db/tables'
import { TenantScope } from '#db/tenant-scope'
import { retryOnConflict, runAfterCommit } from '#runtime/database/retry-on-conflict'
import { StatementGuard } from '#runtime/database/statement-guard'
import type { MergedExtensions } from '#runtime/extensions'
import type { Answer } from '#runtime/gateway/answers'
import type { Limits } from '#runtime/gateway/rate-limit'
import type { Handle } from '#runtime/jobs/handle'
import type { Queue, QueueOptions } from '#runtime/jobs/queue'
import { logWorkState, type WorkState } from '#runtime/server/log'
import type { Settings } from '#runtime/server/settings'
import { newId, sha256 } from '#runtime/values/ids'
import type { Clock } from './clock.ts'
import type { Adapters } from './ports/adapters.ts'
import { scopeMail } from './ports/instrumentation.ts'
import type { Role } from './roles.ts'
import type { z } from './schema.ts'

/** A database handle that sees the rows of one store only. */
export type TenantDb = Kysely<TenantTables>

/** Services that the whole process shares. */
export interface Services {
  readonly settings: Settings
  readonly database: Database
  readonly clock: Clock
  readonly adapters: Adapters
  readonly queue: Queue
  readonly log: Logger
  readonly catalog: Catalog
  /** The merged extensions of all sections. */
  readonly extensions: MergedExtensions
  /** Rate limits of requests without a key. */
  readonly limits: Limits
  /** Makes every instance drop its cached access of the store's keys; resolves once no instance can use it any more. */
  accessChanged(storeId: string): Promise<void>
  /** Increments a counter that a section declares (`counters`), for `/metrics`. */
  count(counter: string, labels: Record<string, string>): void
  /** Aborted when the job has to end, so that waiting code stops. Never aborted for a request. */
  readonly abortSignal: AbortSignal
}

/** Information about all operations and jobs, for handlers: they cannot import the registry, which imports them. */
export interface Catalog {
  /** The OpenAPI document. */
  document(): string
  /** Descriptors of the operations that the key may run at `now` (milliseconds), in the order of the documents. */
  runnable(access: Access, now: number): string[]
  /** Whether the key may run the operation; false if there is no such operation. */
  mayRun(id: string, access: Access, now: number): boolean
  /** Runs the read operation at this path; returns undefined if there is none. */
  read(ctx: Context, path: string, query: Record<string, string>): Promise<unknown>
  /** Describes a job. `handlesFailure`: the job has a `failed` hook, which reports its final failure. */
  job(name: string): { description: string; handlesFailure: boolean } | undefined
}

/** The controls of this process's worker that the sandbox uses. */
export interface JobRunner {
  drain(timeoutMs: number): Promise<{ ran: number; failed: number; pending: number }>
  clockMoved(): void
}

/** The part of a request's claim on its Idempotency-Key (`idempotency.ts`) that transactions use. */
export interface ClaimHandle {
  /** Throws if another request has taken over the key. */
  confirm(tx: Context): Promise<void>
  /** The statement that ends a transaction, unless it has set its own; null if none is needed. */
  closingStatement(tx: Context): (() => Promise<void>) | null
  /** Tells the claim that the handler recognises a repeated request by its key, so that it may run again. */
  markResumable(): void
  /** Stores the answer as the last statement of the transaction that produced it. */
  storeAnswerLast(tx: Context, answer: Answer): Promise<void>
}

/** The actor: the person who created the key of a request, or a job on behalf of the user who caused it. */
export interface Actor {
  kind: 'key' | 'job'
  userId: string | null
  role: Role
  scopes: ReadonlySet<string>
  requestId: string
  keyId: string | null
  /** The Idempotency-Key of a write, if it has one: the same request may come again after a crash. */
  idempotencyKey?: string | null
  /** The claim on the Idempotency-Key: a transaction fails if another request has taken over the key. */
  claim?: ClaimHandle | null
  /** Runs inside the first transaction that commits, at its beginning; an error aborts the transaction. */
  guard?: ((tx: Context) => Promise<void>) | null
  /** The access that was looked up for the request, used by `checkAccess`; null for a job or without a key. */
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
  readonly #log: Logger
  readonly #mode: Mode
  readonly #transaction: Transaction<Tables> | null
  readonly #afterCommit: (() => Promise<void> | void)[]
  #closing: (() => Promise<void>) | null = null
  #closingConnection: DatabaseConnection | null = null // connection of the closing statement
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
    requireReachable(services.database, store.id)
    this.services = services
    this.store = store
    this.actor = actor
    this.#log = log
    this.#mode = within?.mode ?? 'open'
    this.#transaction = within?.transaction ?? null
    this.#afterCommit = within?.afterCommit ?? []
  }

  /** Every line names the store. It is a new child at each use, so that it has the current level of its parent. */
  get log(): Logger {
    const hasStore = this.#log.bindings().store !== undefined
    return hasStore ? this.#log : this.#log.child({ store: this.store.id })
  }
  get clock(): Clock {
    return this.services.clock
  }
  get adapters(): Adapters {
    const { adapters } = this.services
    this.#adapters ??= { ...adapters, mail: scopeMail(adapters.mail, this.store.id) }
    return this.#adapters
  }
  get settings(): Settings {
    return this.services.settings
  }
  /** The merged extensions of all sections (`extensions.ts`). */
  get extensions(): MergedExtensions {
    return this.services.extensions
  }
  /**
   * The request's Idempotency-Key, for a handler that recognises a request that is repeated because its answer was lost.
   * Reading it marks the claim as resumable.
   */
  get resumeKey(): string | null {
    this.actor.claim?.markResumable()
    return this.actor.idempotencyKey ?? null
  }
  /**
   * Builds the idempotency key for the provider, for a message without a row of its own. It is derived from the request's
   * Idempotency-Key and the day, so a repeated request sends the same key.
   */
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

  /** The store's rows, inside the transaction if one is open. */
  get db(): TenantDb {
    if (!this.#db) {
      const scoped = (this.#transaction ?? this.services.database.root).withPlugin(
        new TenantScope(this.store.id),
      )
      this.#db = (this.#mode === 'statement'
        ? scoped.withPlugin(new StatementGuard(() => this.#count()))
        : scoped) as unknown as TenantDb
    }
    return this.#db
  }

  /** Runs a statement that `prepared` compiled with tenant isolation. Only `prepared` calls it. */
  runPrepared<Row>(text: string, parameters: unknown[], plan?: Plan): Promise<Row[]> {
    if (this.#mode === 'statement') this.#count()
    if (!this.#transaction) return this.services.database.query<Row>(text, parameters, plan)
    const by = this.#closingConnection ?? this.#transaction
    return by.executeQuery<Row>(CompiledQuery.raw(text, parameters)).then(({ rows }) => rows)
  }

  /**
   * Runs `fn` in one transaction, or in the open one. An error rolls all of it back. `fn` may run more than once:
   * after a deadlock or a serialization failure the transaction is retried.
   */
  async transaction<T>(fn: (ctx: Context) => Promise<T>, isolationLevel?: 'repeatable read'): Promise<T> {
    if (this.#transaction) return fn(this)
    const { result, afterCommit } = await retryOnConflict(this.#log, this.store.id, () =>
      this.#transact(fn, isolationLevel),
    )
    if (afterCommit.length > 0) await runAfterCommit(this.log, afterCommit)
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
      const within = new Context(this.services, this.store, this.actor, this.#log, {
        mode: 'transaction',
        transaction,
        afterCommit,
      })
      await guard?.(within)
      const done = await fn(within)
      const { claim } = this.actor
      await claim?.confirm(within)
      // Sent while this transaction holds the connection: so it is sent before the commit, even if the handler has
      // statements that it did not await.
      await transaction.getExecutor().provideConnection(async (connection) => {
        within.#closingConnection = connection
        closing = (within.#closing ?? claim?.closingStatement(within))?.()
        closing?.catch(() => undefined) // awaited below
        within.#closingConnection = null
      })
      return done
    }
    const result = await (isolation ? begin.setIsolationLevel(isolation) : begin)
      .execute(work)
      .catch(async (error) => {
        // The transaction was rolled back, so the guard must run in the next one.
        if (guard) this.actor.guard = guard
        await closing // throws its own error, which says more than the commit's
        throw error
      })
    await closing
    return { result, afterCommit }
  }

  /** A read-only transaction, in which the tests run every `readOnly` operation. */
  async readOnly<T>(fn: (ctx: Context) => Promise<T>): Promise<T> {
    const begin = this.services.database.root.transaction().setAccessMode('read only')
    return begin.execute((transaction) =>
      fn(new Context(this.services, this.store, this.actor, this.#log, { mode: 'transaction', transaction })),
    )
  }

  /** The same context with a claim on an Idempotency-Key. */
  withClaim(claim: ClaimHandle): Context {
    return new Context(this.services, this.store, { ...this.actor, claim }, this.#log)
  }

  /**
   * The same context with a guard: its first transaction that commits fails if `guard` throws, or if rows that `guard`
   * read have changed since.
   */
  withGuard(guard: (tx: Context) => Promise<void>): Context {
    return new Context(this.services, this.store, { ...this.actor, guard }, this.#log)
  }

  /** The same context without guard and claim, for data outside the request, such as the catalog cache. */
  detached(): Context {
    if (this.#transaction) return this
    return new Context(this.services, this.store, { ...this.actor, claim: null, guard: null }, this.#log)
  }

  /** A context that allows a single statement. */
  forOneStatement(): Context {
    return new Context(this.services, this.store, this.actor, this.#log, { mode: 'statement' })
  }

  /** Queues a job in the open transaction. If a job with the same key is waiting already, returns that job's id. */
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

  /** Runs `act` after the commit and before the answer is sent; at once if no transaction is open. */
  async afterCommit(act: () => Promise<void> | void): Promise<void> {
    if (this.#transaction) this.#afterCommit.push(act)
    else await act()
  }

  /** Logs a change of the state of the store's work (`logWorkState`), once it is committed. */
  async logWorkState(
    state: WorkState,
    reason: string | null,
    work: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.afterCommit(() => logWorkState(this.log, state, reason, work))
  }

  /** Sets the transaction's last statement, sent with the commit. It must throw to abort the transaction. */
  setClosingStatement(statement: () => Promise<void>): void {
    this.#closing = statement
  }

  /**
   * Takes the store's lock, which serializes decisions over several rows of the store. The store's row is updated, not
   * only locked: a waiting transaction that has compared an If-Match then gets a serialization failure and is retried.
   */
  async lockStore(): Promise<void> {
    // Updates no key column: that would block every insert with a foreign key to the store.
    await this.db
      .updateTable('stores')
      .set((eb) => ({ storefront_revision: eb.ref('storefront_revision') }))
      .execute()
  }

  /** A database handle without tenant isolation, inside the transaction. Only a section's public API may use it. */
  get system(): RootDatabase {
    return this.#transaction ?? this.services.database.root
  }

  #count(): void {
    this.#statements += 1
    if (this.#statements > 1) throw new Error("transaction: 'statement' allows one statement: use 'whole'")
  }
}

/** The context of a server job or of a page outside `/v1`. It can open the context of any store. */
export class SystemContext {
  readonly services: Services
  readonly log: Logger
  readonly requestId: string
  /** The worker of this process, for the sandbox's clock and its draining of jobs. */
  readonly worker: JobRunner | null
  readonly root: RootDatabase
  /** `root`: the handle for queries over all stores, which may be limited to some stores. */
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
  get extensions(): MergedExtensions {
    return this.services.extensions
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

/** The actor of a job. It has all rights: access was checked when the job was queued. */
export const jobActor = (userId: string | null, requestId: string): Actor => ({
  kind: 'job',
  userId,
  role: 'owner',
  scopes: new Set(),
  requestId,
  keyId: null,
  access: null,
})
