// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** Claims due jobs through pg-boss, runs them and records their results. Another worker gets the jobs of a dead one. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { waitUntilVisible } from '#db/citus/visibility-barrier'
import { finishMs, jobGraceMs } from '#db/deadlines'
import { type Services, SystemContext } from '#runtime/context'
import { getMessage, sqlState } from '#runtime/errors'
import { type Job, type JobAttempt, JobLeaseLost, WorkerStopping } from '#runtime/job'
import { pause } from '#runtime/pause'
import { getRetryDelay } from '#runtime/ports/retry-delay'
import type { Metrics } from '#runtime/server/metrics'
import { runWithTrace } from '#runtime/trace'
import { runOnAllNodes } from './all-nodes.ts'
import { failedQueue, heartbeatSeconds, type QueueName, queueNames } from './boss.ts'
import { deadLetterJob, findDeadLetterHandler } from './dead-letter.ts'
import { runWithTimeout, scopeServices } from './job-lease.ts'
import { isPermanent, type Outcome, recordResult } from './record-result.ts'
import type { FetchedJob } from './rows.ts'
import { WorkerSlots } from './worker-slots.ts'

const pollMs = 500
/** How long a stopping worker waits until its requeues are recorded. */
const requeueWaitMs = 1_500
/** How long `drain` waits for running jobs before it claims more. */
const drainWaitMs = 250
const drainPollMs = 20
const requeueDelayMs = 1000
const unknownSeconds = 60
const limitedByStore: ReadonlySet<QueueName> = new Set(['interactive', 'scheduled'])
/** Interval of looking for jobs in the queues of old releases. */
const oldQueuesEveryMs = 60_000
/** Delay of a job whose node of the cluster is down: long, since the node will hardly be back in a moment. */
const nodeGoneMs = 10_000
const isNodeGone = (error: unknown): boolean => sqlState(error)?.startsWith('08') === true
/** Delay of a requeued job during a drain: short, since the drain waits for the job. */
const requeueDelayInDrainMs = 50

/** Waiting times of a worker. */
export interface WorkerTimes {
  /** How long a stopping worker waits for running jobs. */
  finishMs: number
  /** How long a job may continue after its timeout, until its lease is revoked. */
  jobGraceMs: number
  /** The interval of heartbeats. */
  heartbeatMs: number
  /** The delay before recording a result is retried. */
  retryMs: number
}
const defaultTimes: WorkerTimes = {
  finishMs,
  jobGraceMs,
  heartbeatMs: (heartbeatSeconds * 1000) / 4,
  retryMs: 1000,
}

interface Running {
  /** Null for a job that only another release has: it is requeued for the workers of that release. */
  job: Job | null
  fetched: FetchedJob
  /** Aborted when the job should stop. */
  abort: AbortController
  /** Aborted when the job's lease is lost: every later effect of its handler is refused. */
  leaseLost: AbortController
  done: Promise<void>
}

export class Worker {
  readonly #services: Services
  readonly #jobs: Map<string, Job>
  readonly #metrics: Metrics
  readonly #times: WorkerTimes
  readonly #atOnce: number
  readonly #slots: WorkerSlots
  /** Queues in which something may be due. */
  #mayBeDue = new Set<QueueName>(queueNames)
  readonly #running = new Set<Running>()
  #loop: Promise<void> | null = null
  #heartbeatTimer: NodeJS.Timeout | null = null
  #stopping = false
  /** Aborted when the time for stopping is over. */
  readonly #stopDeadline = new AbortController()
  #wake: (() => void) | null = null
  ran = 0
  failed = 0

  constructor(services: Services, jobs: readonly Job[], metrics: Metrics, times: Partial<WorkerTimes> = {}) {
    this.#services = services
    this.#times = { ...defaultTimes, ...times }
    this.#jobs = new Map(
      jobs.filter((job) => services.settings.sandbox || !job.spec.sandboxOnly).map((job) => [job.name, job]),
    )
    this.#metrics = metrics
    this.#atOnce = services.database.kind === 'pglite' ? 4 : 8
    this.#slots = new WorkerSlots(this.#atOnce)
    services.queue.onSent((queue) => {
      this.#mayBeDue.add(queue)
      this.#wake?.()
    })
  }

  /** Begins to poll. With the embedded database there is no other worker, so running jobs belong to a dead one. */
  async start(): Promise<void> {
    if (this.#services.database.pglite) await this.#services.queue.requeueAll()
    this.#heartbeatTimer = setInterval(() => void this.#heartbeat(), this.#times.heartbeatMs)
    this.#loop = this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#moveOldJobs()
        await this.schedule()
        this.#checkAllQueues()
        if ((await this.#claim()) > 0) continue
      } catch (error) {
        this.#services.log.error({ err: error }, 'polling for jobs failed')
      }
      await this.#waitForWork()
    }
  }

  async #moveOldJobs(): Promise<void> {
    const now = performance.now()
    if (now < this.#movesOldAt) return
    const isFirst = this.#movesOldAt === 0
    this.#movesOldAt = now + oldQueuesEveryMs
    await this.#services.queue.moveOldJobs(isFirst)
  }
  #movesOldAt = 0

  async #waitForWork(): Promise<void> {
    if (this.#stopping) return
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([woken, wait(pollMs)])
    this.#wake = null
  }

  /** Marks all queues as possibly due every `pollMs`: jobs become due by time, or are queued by other processes. */
  #checkAllQueues(): void {
    const now = performance.now()
    if (now - this.#lookedAt < pollMs) return
    this.#lookedAt = now
    this.#mayBeDue = new Set(queueNames)
  }
  #lookedAt = 0

  /** Queues the scheduled jobs that are due. Only one of all workers queues each of them. */
  async schedule(): Promise<void> {
    const now = this.#services.clock.now()
    const due: { name: string; next_at: Date }[] = []
    for (const [name, { spec }] of this.#jobs) {
      if (!spec.everySeconds) continue
      const next = new Date(now.getTime() + spec.everySeconds * 1000)
      const nextDueAt = this.#nextAt.get(name) ?? 0
      // If `nextDueAt` is further ahead than the interval, it was set before the clock was moved back: it is ignored.
      if (now.getTime() < nextDueAt && nextDueAt <= next.getTime()) continue
      due.push({ name, next_at: next })
    }
    if (due.length === 0) return
    // Sorted, so that two workers lock the rows in the same order and never deadlock.
    due.sort((a, b) => (a.name < b.name ? -1 : 1))
    await this.#services.database.root.transaction().execute(async (transaction) => {
      const claimed = await transaction
        .insertInto('job_schedules')
        .values(due)
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet((eb) => ({ next_at: eb.ref('excluded.next_at') }))
            .where((eb) =>
              eb.or([
                eb('job_schedules.next_at', '<=', now),
                eb('job_schedules.next_at', '>', eb.ref('excluded.next_at')),
              ]),
            ),
        )
        .returning('name')
        .execute()
      const handles = claimed.map(({ name }) => this.#jobs.get(name)!.handle)
      if (handles.length > 0) await this.#services.queue.sendServerJobs(handles, transaction)
    })
    for (const { name, next_at: next } of due) this.#nextAt.set(name, next.getTime())
  }
  /** The next due time of each job; moving the clock clears it. */
  readonly #nextAt = new Map<string, number>()

  /** Clears the due times after the clock was moved. */
  clockMoved(): void {
    this.#nextAt.clear()
    this.#wake?.()
  }

  /** Claims one after the other: two concurrent claims would fill the same slots. Returns how many jobs it started. */
  #claim(): Promise<number> {
    const claim = this.#claimed.then(() => this.#claimNow())
    this.#claimed = claim.catch(() => undefined) // its own caller gets the error
    return claim
  }
  #claimed: Promise<unknown> = Promise.resolve()

  async #claimNow(): Promise<number> {
    let started = 0
    for (const [queue, atMost] of this.#slots.claimOrder) {
      if (!this.#mayBeDue.has(queue)) continue
      const running = [...this.#running].map(({ fetched }) => fetched.queue)
      // A drain waits for `maintenance` jobs too, so they may use all slots then.
      const isDrained = queue === 'maintenance' && !this.#loop
      const free = isDrained ? this.#atOnce - running.length : this.#slots.countFree(queue, atMost, running)
      if (free > 0 && !this.#stopping) started += await this.#claimFrom(queue, free)
    }
    return started
  }

  async #claimFrom(from: QueueName, free: number): Promise<number> {
    const { queue } = this.#services
    this.#mayBeDue.delete(from)
    const isLimited = limitedByStore.has(from)
    const fetched = await queue.fetch(from, free, isLimited ? this.#atOnce / 2 : undefined)
    if (fetched.length === free || (isLimited && fetched.length > 0)) this.#mayBeDue.add(from)
    if (this.#stopping) {
      // The worker was stopped while the claim was pending: nothing may start any more.
      await Promise.all(fetched.map((job) => queue.requeue(job, 0)))
      return 0
    }
    const blocked = queue.findBlocked(fetched)
    blocked.catch(() => undefined) // each of the jobs awaits it
    if (fetched.length > 0) this.#slots.recordClaim(from)
    for (const each of fetched) {
      this.#begin(from === failedQueue ? deadLetterJob : (this.#jobs.get(each.name) ?? null), each, blocked)
    }
    return fetched.length
  }

  #begin(job: Job | null, fetched: FetchedJob, blocked: Promise<Set<string>>): void {
    const running: Running = {
      job,
      fetched,
      abort: new AbortController(),
      leaseLost: new AbortController(),
      done: Promise.resolve(),
    }
    this.#running.add(running)
    const { trace = null } = fetched.data
    running.done = runWithTrace(trace, () => this.#execute(running, blocked)).finally(() => {
      this.#running.delete(running)
      // Other jobs of the same store may have been skipped because of the limit per store.
      if (limitedByStore.has(fetched.queue)) this.#mayBeDue.add(fetched.queue)
      this.#wake?.()
    })
  }

  /** Runs a job and records its result; heartbeats continue until then. */
  async #execute(running: Running, blocked: Promise<Set<string>>): Promise<void> {
    const { job, fetched } = running
    const startedAt = performance.now()
    const { requestId, storeId } = fetched.data
    const name = job?.name ?? fetched.name
    const ids = { job: name, jobId: fetched.jobId, requestId }
    const log = this.#services.log.child(storeId === null ? ids : { ...ids, store: storeId })
    if (!job) log.warn('unknown job, requeued')
    const unknown: Outcome = { kind: 'requeued', ms: unknownSeconds * 1000 }
    const outcome = job ? await this.#runJob(job, running, blocked, log) : unknown
    if (outcome.kind === 'completed') this.ran += 1
    if (outcome.kind === 'failed') this.failed += 1
    if (outcome.kind !== 'requeued' && outcome.kind !== 'lost') {
      this.#metrics.observeJob(name, outcome.kind, performance.now() - startedAt)
    }
    const { retryMs } = this.#times
    await recordResult(
      { queue: this.#services.queue, log, over: this.#stopDeadline.signal, againMs: retryMs },
      fetched,
      outcome,
    )
  }

  async #runJob(job: Job, running: Running, blocked: Promise<Set<string>>, log: Logger): Promise<Outcome> {
    const { fetched, abort, leaseLost } = running
    const isLast = fetched.retryCount >= fetched.retryLimit
    const attempt: JobAttempt = {
      jobId: fetched.jobId,
      number: fetched.retryCount + 1,
      isLast,
      signal: abort.signal,
    }
    const { storeId, userId, requestId, payload } = fetched.data
    const jobLog = log.child({})
    // Silences the job's log once the lease is lost: its later errors only say that its calls were refused.
    leaseLost.signal.addEventListener('abort', () => {
      jobLog.level = 'silent'
    })
    const leased = scopeServices(this.#services, abort.signal, leaseLost.signal)
    const system = new SystemContext(leased, jobLog, requestId)
    const requeuedSoon: Outcome = {
      kind: 'requeued',
      ms: this.#loop ? requeueDelayMs : requeueDelayInDrainMs,
    }
    const completed: Outcome = { kind: 'completed' }
    let isStarted = false
    const run = async (): Promise<Outcome> => {
      if ((await blocked).has(fetched.id)) return requeuedSoon
      const ctx = job.store ? await system.forStore(storeId ?? '', userId) : system
      // The store was deleted.
      if (!ctx) return completed
      // Waits until the data that was committed with the job is visible. A scheduled job has no such data.
      if (job !== deadLetterJob && storeId !== null && fetched.queue !== 'scheduled') {
        await waitUntilVisible(leased.database, storeId, fetched.jobId, abort.signal)
      }
      const work =
        job === deadLetterJob
          ? await findDeadLetterHandler(this.#jobs, fetched, system)
          : () => runOnAllNodes(ctx, job.spec, (of) => job.spec.run(of as never, payload as never, attempt))
      for (const { signal } of [leaseLost, abort]) signal.throwIfAborted()
      isStarted = true
      await work?.()
      return completed
    }
    try {
      return await runWithTimeout(run(), { ...running, ...job.spec, ...this.#times })
    } catch (error) {
      if (leaseLost.signal.reason instanceof JobLeaseLost) {
        log.warn('job lease lost')
        return { kind: 'lost' }
      }
      if (this.#stopping && abort.signal.aborted) return { kind: 'requeued', ms: 0 }
      if (!isStarted && !isPermanent(error)) {
        log.warn({ err: error }, 'job could not start, requeued')
        return isNodeGone(error) ? { kind: 'requeued', ms: nodeGoneMs } : requeuedSoon
      }
      const ms = getRetryDelay(error, this.#services.clock.ms())
      if (ms !== null) return { kind: 'waiting', ms, error }
      log.error({ err: error, attempt: attempt.number, isLast }, 'job failed')
      return { kind: 'failed', reason: getMessage(error) }
    }
  }

  async #heartbeat(): Promise<void> {
    const running = [...this.#running]
    if (running.length === 0) return
    try {
      const lost = await this.#services.queue.touch(running.map(({ fetched }) => fetched))
      for (const each of running) {
        if (!lost.includes(each.fetched.id) || !this.#running.has(each)) continue
        each.leaseLost.abort(new JobLeaseLost())
        each.abort.abort(each.leaseLost.signal.reason)
      }
    } catch (error) {
      this.#services.log.error({ err: error }, 'job heartbeat failed')
    }
  }

  /**
   * Runs all due jobs, whether or not the worker was started, and waits for jobs that other processes run. Returns how
   * many ran and failed here, and how many are still due or running at the timeout.
   */
  async drain(timeoutMs = 30_000): Promise<{ ran: number; failed: number; pending: number }> {
    const before = { ran: this.ran, failed: this.failed }
    const until = performance.now() + timeoutMs
    for (;;) {
      await this.schedule()
      const started = this.#loop ? 0 : await this.#claim()
      const isOver = this.#stopping || performance.now() >= until
      if (started === 0 && this.#running.size > 0) {
        // Waits for all running jobs: otherwise the end of each would cause another query, which costs as much as a
        // small job.
        const remainingMs = Math.max(0, Math.min(drainWaitMs, until - performance.now()))
        await Promise.race([Promise.all([...this.#running].map((each) => each.done)), wait(remainingMs)])
      }
      if (!isOver && (started > 0 || this.#running.size > 0)) continue
      const backlog = await this.#services.queue.backlog()
      const pending = backlog.reduce((sum, { due, requeued, running }) => sum + due + requeued + running, 0)
      if (pending === 0 || isOver)
        return { ran: this.ran - before.ran, failed: this.failed - before.failed, pending }
      this.#mayBeDue = new Set(backlog.filter(({ due }) => due > 0).map(({ queue }) => queue))
      if (this.#mayBeDue.size === 0 || this.#loop) await wait(drainPollMs)
    }
  }

  /** Claims nothing more, lets running jobs finish for a while, requeues the rest. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake?.()
    const stopped = new AbortController()
    const timeIsUp = pause(this.#times.finishMs, stopped.signal)
    await Promise.race([this.#loop, timeIsUp])
    for (const each of this.#running) each.abort.abort(new WorkerStopping())
    const all = Promise.allSettled([...this.#running].map((each) => each.done))
    await Promise.race([all, timeIsUp])
    // Running jobs now requeue themselves; failed recordings are not retried any more.
    this.#stopDeadline.abort()
    for (const each of this.#running) each.leaseLost.abort(new WorkerStopping())
    // If the database hangs, jobs may stay unrecorded: pg-boss later requeues jobs without heartbeats.
    await Promise.race([all, pause(requeueWaitMs, stopped.signal)])
    stopped.abort()
    if (this.#heartbeatTimer) clearInterval(this.#heartbeatTimer)
  }
}
