// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/**
 * Runs jobs: claims what is due through pg-boss, runs it, settles it. A worker that dies leaves its jobs without a
 * heartbeat; pg-boss gives them to another.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { settled } from '#db/citus/settled'
import { finishMs, jobGraceMs } from '#db/deadlines'
import { type Services, SystemContext } from '#runtime/context'
import { messageOf, sqlState } from '#runtime/errors'
import { type Job, type JobAttempt, JobLost, WorkerStopping } from '#runtime/job'
import { pause } from '#runtime/pause'
import { waitsFor } from '#runtime/ports/waiting'
import type { Metrics } from '#runtime/server/metrics'
import { within } from '#runtime/trace'
import { failedQueue, heartbeatSeconds, type QueueName, queueNames } from './boss.ts'
import { runEverywhere } from './everywhere.ts'
import { givenUp, tellingOf } from './given-up.ts'
import { inTime, whileHeld } from './held.ts'
import { Places } from './places.ts'
import type { FetchedJob } from './rows.ts'
import { isLasting, type Outcome, settle } from './settling.ts'

const pollMs = 500
/** How long a worker that stops waits until what it hands back is recorded. */
const handBackMs = 1_500
/** How long `drain` waits for all that run before it looks for more. */
const patienceMs = 250
const drainLooksEveryMs = 20
const postponedMs = 1000
const unknownSeconds = 60
const limitedByStore: ReadonlySet<QueueName> = new Set(['interactive', 'scheduled'])
/** How often it looks for jobs of releases that had other queues. */
const movesOldEveryMs = 60_000
/** Who answers is the coordinator of a cluster: the node with the store's rows is gone, for longer than a moment. */
const nodeGoneMs = 10_000
const isNodeGone = (error: unknown): boolean => sqlState(error)?.startsWith('08') === true
/** While a drain looks on: it waits for them. */
const postponedInDrainMs = 50

/** How long a worker waits, for who cannot. */
export interface WorkerTimes {
  /** For what runs, once it is stopping. */
  finishMs: number
  /** For a job whose time is over. */
  jobGraceMs: number
  /** Between two signs of life. */
  beatMs: number
  /** Until what became of a job is recorded anew. */
  againMs: number
}
const usualTimes: WorkerTimes = {
  finishMs,
  jobGraceMs,
  beatMs: (heartbeatSeconds * 1000) / 4,
  againMs: 1000,
}

interface Running {
  /** Null for one of a later version, whose workers know it, or of an earlier one: it is put back. */
  job: Job | null
  fetched: FetchedJob
  /** It is to end. */
  abort: AbortController
  /** It is this worker's no longer: whatever its handler still does is refused. */
  taken: AbortController
  done: Promise<void>
}

export class Worker {
  readonly #services: Services
  readonly #jobs: Map<string, Job>
  readonly #metrics: Metrics
  readonly #times: WorkerTimes
  readonly #atOnce: number
  readonly #places: Places
  /** Where something may be due. */
  #mayBeDue = new Set<QueueName>(queueNames)
  readonly #running = new Set<Running>()
  #loop: Promise<void> | null = null
  #beat: NodeJS.Timeout | null = null
  #stopping = false
  /** Its time to stop is over. */
  readonly #over = new AbortController()
  #wake: (() => void) | null = null
  ran = 0
  failed = 0

  constructor(services: Services, jobs: readonly Job[], metrics: Metrics, times: Partial<WorkerTimes> = {}) {
    this.#services = services
    this.#times = { ...usualTimes, ...times }
    this.#jobs = new Map(
      jobs.filter((job) => services.settings.sandbox || !job.spec.sandboxOnly).map((job) => [job.name, job]),
    )
    this.#metrics = metrics
    this.#atOnce = services.database.kind === 'pglite' ? 4 : 8
    this.#places = new Places(this.#atOnce)
    services.queue.onSent((queue) => {
      this.#mayBeDue.add(queue)
      this.#wake?.()
    })
  }

  /** Begins to look for work. Who has the embedded database open was the last to run jobs: those left active are freed. */
  async start(): Promise<void> {
    if (this.#services.database.pglite) await this.#services.queue.putBackAll()
    this.#beat = setInterval(() => void this.#heartbeat(), this.#times.beatMs)
    this.#loop = this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#moveOldJobs()
        await this.schedule()
        this.#lookEverywhere()
        if ((await this.#claim()) > 0) continue
      } catch (error) {
        this.#services.log.error({ err: error }, 'the worker could not look for jobs')
      }
      await this.#rest()
    }
  }

  async #moveOldJobs(): Promise<void> {
    const now = performance.now()
    if (now < this.#movesOldAt) return
    const isFirst = this.#movesOldAt === 0
    this.#movesOldAt = now + movesOldEveryMs
    await this.#services.queue.moveOldJobs(isFirst)
  }
  #movesOldAt = 0

  async #rest(): Promise<void> {
    if (this.#stopping) return
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([woken, wait(pollMs)])
    this.#wake = null
  }

  /** Jobs come due by time, and from other processes, also while this one is awake all the time. */
  #lookEverywhere(): void {
    const now = performance.now()
    if (now - this.#lookedAt < pollMs) return
    this.#lookedAt = now
    this.#mayBeDue = new Set(queueNames)
  }
  #lookedAt = 0

  /** Queues what runs by the clock and has come due; once over all workers. */
  async schedule(): Promise<void> {
    const now = this.#services.clock.now()
    const asked: { name: string; next_at: Date }[] = []
    for (const [name, { spec }] of this.#jobs) {
      if (!spec.everySeconds) continue
      const next = new Date(now.getTime() + spec.everySeconds * 1000)
      const mayBeDue = this.#nextAt.get(name) ?? 0
      // One that lies further ahead than its own interval was planned before the clock went back.
      if (now.getTime() < mayBeDue && mayBeDue <= next.getTime()) continue
      asked.push({ name, next_at: next })
    }
    if (asked.length === 0) return
    // Two workers ask for the same ones in the same order.
    asked.sort((a, b) => (a.name < b.name ? -1 : 1))
    await this.#services.database.root.transaction().execute(async (transaction) => {
      const taken = await transaction
        .insertInto('job_schedules')
        .values(asked)
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
      const handles = taken.map(({ name }) => this.#jobs.get(name)!.handle)
      if (handles.length > 0) await this.#services.queue.sendClocked(handles, transaction)
    })
    for (const { name, next_at: next } of asked) this.#nextAt.set(name, next.getTime())
  }
  /** Until when there is no need to ask; a clock moved back or forth asks again. */
  readonly #nextAt = new Map<string, number>()

  /** Forgets what it knew of schedules, after the clock was moved. */
  clockMoved(): void {
    this.#nextAt.clear()
    this.#wake?.()
  }

  /** One at a time, or two that drain together would fill the same room. Answers how many it began. */
  #claim(): Promise<number> {
    const claim = this.#claimed.then(() => this.#claimNow())
    this.#claimed = claim.catch(() => undefined) // its own caller hears of it
    return claim
  }
  #claimed: Promise<unknown> = Promise.resolve()

  async #claimNow(): Promise<number> {
    let begun = 0
    for (const [queue, atMost] of this.#places.inOrder) {
      if (!this.#mayBeDue.has(queue)) continue
      const running = [...this.#running].map(({ fetched }) => fetched.queue)
      // Who drains waits for what the clock has due as for anything else.
      const isAwaited = queue === 'maintenance' && !this.#loop
      const room = isAwaited ? this.#atOnce - running.length : this.#places.room(queue, atMost, running)
      if (room > 0 && !this.#stopping) begun += await this.#take(queue, room)
    }
    return begun
  }

  async #take(from: QueueName, room: number): Promise<number> {
    const { queue } = this.#services
    this.#mayBeDue.delete(from)
    const isLimited = limitedByStore.has(from)
    const fetched = await queue.fetch(from, room, isLimited ? this.#atOnce / 2 : undefined)
    if (fetched.length === room || (isLimited && fetched.length > 0)) this.#mayBeDue.add(from)
    if (this.#stopping) {
      // It may have hung for longer than anybody waits for what would begin now.
      await Promise.all(fetched.map((job) => queue.putBack(job, 0)))
      return 0
    }
    const behind = queue.behindAnother(fetched)
    behind.catch(() => undefined) // each of them hears of it
    if (fetched.length > 0) this.#places.given(from)
    for (const each of fetched) {
      this.#begin(from === failedQueue ? givenUp : (this.#jobs.get(each.name) ?? null), each, behind)
    }
    return fetched.length
  }

  #begin(job: Job | null, fetched: FetchedJob, behind: Promise<Set<string>>): void {
    const running: Running = {
      job,
      fetched,
      abort: new AbortController(),
      taken: new AbortController(),
      done: Promise.resolve(),
    }
    this.#running.add(running)
    const { trace = null } = fetched.data
    running.done = within(trace, () => this.#execute(running, behind)).finally(() => {
      this.#running.delete(running)
      // Others of its store may have been left.
      if (limitedByStore.has(fetched.queue)) this.#mayBeDue.add(fetched.queue)
      this.#wake?.()
    })
  }

  /** Until it is recorded what became of it, its heartbeat goes on. */
  async #execute(running: Running, behind: Promise<Set<string>>): Promise<void> {
    const { job, fetched } = running
    const startedAt = performance.now()
    const { requestId } = fetched.data
    const name = job?.name ?? fetched.name
    const log = this.#services.log.child({ job: name, jobId: fetched.jobId, requestId })
    if (!job) log.warn('no job has this name: it is put back')
    const unknown: Outcome = { is: 'putBack', ms: unknownSeconds * 1000 }
    const outcome = job ? await this.#outcome(job, running, behind, log) : unknown
    if (outcome.is === 'completed') this.ran += 1
    if (outcome.is === 'failed') this.failed += 1
    if (outcome.is !== 'putBack' && outcome.is !== 'lost') {
      this.#metrics.observeJob(name, outcome.is, performance.now() - startedAt)
    }
    const { againMs } = this.#times
    await settle({ queue: this.#services.queue, log, over: this.#over.signal, againMs }, fetched, outcome)
  }

  async #outcome(job: Job, running: Running, behind: Promise<Set<string>>, log: Logger): Promise<Outcome> {
    const { fetched, abort, taken } = running
    const isLast = fetched.retryCount >= fetched.retryLimit
    const attempt: JobAttempt = {
      jobId: fetched.jobId,
      number: fetched.retryCount + 1,
      isLast,
      signal: abort.signal,
    }
    const { storeId, userId, requestId, payload } = fetched.data
    const itsLog = log.child({})
    // From then on each of its errors only says that it was refused.
    taken.signal.addEventListener('abort', () => {
      itsLog.level = 'silent'
    })
    const held = whileHeld(this.#services, abort.signal, taken.signal)
    const system = new SystemContext(held, itsLog, requestId)
    const aWhile: Outcome = { is: 'putBack', ms: this.#loop ? postponedMs : postponedInDrainMs }
    const completed: Outcome = { is: 'completed' }
    let isBegun = false
    const run = async (): Promise<Outcome> => {
      if ((await behind).has(fetched.id)) return aWhile
      const ctx = job.store ? await system.forStore(storeId ?? '', userId) : system
      // A store that is gone took its work with it.
      if (!ctx) return completed
      // What the clock queued was written with nothing else.
      if (job !== givenUp && storeId !== null && fetched.queue !== 'scheduled') {
        await settled(held.database, storeId, fetched.jobId, abort.signal)
      }
      const work =
        job === givenUp
          ? await tellingOf(this.#jobs, fetched, system)
          : () => runEverywhere(ctx, job.spec, (of) => job.spec.run(of as never, payload as never, attempt))
      for (const { signal } of [taken, abort]) signal.throwIfAborted()
      isBegun = true
      await work?.()
      return completed
    }
    try {
      return await inTime(run(), { ...running, ...job.spec, ...this.#times })
    } catch (error) {
      if (taken.signal.reason instanceof JobLost) {
        log.warn('it was given to another worker, having said nothing for too long')
        return { is: 'lost' }
      }
      if (this.#stopping && abort.signal.aborted) return { is: 'putBack', ms: 0 }
      if (!isBegun && !isLasting(error)) {
        log.warn({ err: error }, 'it could not begin, and is put back')
        return isNodeGone(error) ? { is: 'putBack', ms: nodeGoneMs } : aWhile
      }
      const ms = waitsFor(error, this.#services.clock.ms())
      if (ms !== null) {
        log.warn({ err: error, waitMs: ms }, 'it waits for a provider')
        return { is: 'waiting', ms }
      }
      log.error({ err: error, attempt: attempt.number, isLast }, 'job failed')
      return { is: 'failed', reason: messageOf(error) }
    }
  }

  async #heartbeat(): Promise<void> {
    const running = [...this.#running]
    if (running.length === 0) return
    try {
      const lost = await this.#services.queue.touch(running.map(({ fetched }) => fetched))
      for (const each of running) {
        if (!lost.includes(each.fetched.id) || !this.#running.has(each)) continue
        each.taken.abort(new JobLost())
        each.abort.abort(each.taken.signal.reason)
      }
    } catch (error) {
      this.#services.log.error({ err: error }, 'heartbeat of jobs failed')
    }
  }

  /**
   * Runs what is due now until nothing is, whether or not the worker was started, and waits for what other processes
   * run. Answers how many ran and failed here meanwhile, and how many are still due or running when the time is over.
   */
  async drain(timeoutMs = 30_000): Promise<{ ran: number; failed: number; pending: number }> {
    const before = { ran: this.ran, failed: this.failed }
    const until = performance.now() + timeoutMs
    for (;;) {
      await this.schedule()
      const started = this.#loop ? 0 : await this.#claim()
      const isOver = this.#stopping || performance.now() >= until
      if (started === 0 && this.#running.size > 0) {
        // All of them, or each that ends would ask anew what is due: with many small jobs that costs as much as they do.
        const left = Math.max(0, Math.min(patienceMs, until - performance.now()))
        await Promise.race([Promise.all([...this.#running].map((each) => each.done)), wait(left)])
      }
      if (!isOver && (started > 0 || this.#running.size > 0)) continue
      const backlog = await this.#services.queue.backlog()
      const pending = backlog.reduce((sum, { due, putBack, running }) => sum + due + putBack + running, 0)
      if (pending === 0 || isOver)
        return { ran: this.ran - before.ran, failed: this.failed - before.failed, pending }
      this.#mayBeDue = new Set(backlog.filter(({ due }) => due > 0).map(({ queue }) => queue))
      if (this.#mayBeDue.size === 0 || this.#loop) await wait(drainLooksEveryMs)
    }
  }

  /** Takes no more work, lets what runs finish for a while, hands back the rest. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake?.()
    const stopped = new AbortController()
    const timeIsUp = pause(this.#times.finishMs, stopped.signal)
    await Promise.race([this.#loop, timeIsUp])
    for (const each of this.#running) each.abort.abort(new WorkerStopping())
    const all = Promise.allSettled([...this.#running].map((each) => each.done))
    await Promise.race([all, timeIsUp])
    // Each hands itself back; what could not be recorded so far is not tried again.
    this.#over.abort()
    for (const each of this.#running) each.taken.abort(new WorkerStopping())
    // A database that hangs answers later than anybody waits: pg-boss hands over what hears no heartbeat.
    await Promise.race([all, pause(handBackMs, stopped.signal)])
    stopped.abort()
    if (this.#beat) clearInterval(this.#beat)
  }
}
