// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/**
 * Runs jobs: asks which queues have one that is due, claims it through pg-boss, runs it, settles it. A worker that
 * dies leaves its jobs without a heartbeat; pg-boss gives them to another.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { settled } from '#db/citus/settled'
import { finishMs, jobGraceMs } from '#db/deadlines'
import { type Services, SystemContext } from '#runtime/context'
import { type Job, type JobAttempt, JobLost, WorkerStopping } from '#runtime/job'
import { waitsFor } from '#runtime/ports/waiting'
import type { Metrics } from '#runtime/server/metrics'
import { within } from '#runtime/trace'
import { heartbeatSeconds } from './boss.ts'
import { runEverywhere } from './everywhere.ts'
import { givenUp, tellingOf } from './given-up.ts'
import { inTime, whileHeld } from './held.ts'
import type { DueQueue, FetchedJob } from './queue.ts'
import { isLasting, type Outcome, settle } from './settling.ts'

const pollMs = 500
/** How long `drain` waits for all that run before it looks for more. */
const patienceMs = 250
const defaultConcurrency = 4
const drainLooksEveryMs = 20
const postponedMs = 1000
const none: Promise<string[]> = Promise.resolve([])
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

interface Claim {
  started: number
  /** Nothing was due, claimed by whichever process, or put back for a moment. */
  isIdle: boolean
}
const notLooked: Claim = { started: 0, isIdle: false }

interface Running {
  job: Job
  fetched: FetchedJob
  isAwaited: boolean
  /** It is to end. */
  abort: AbortController
  /** It is this worker's no longer: whatever its handler still does is refused. */
  taken: AbortController
  done: Promise<void>
}

export class Worker {
  readonly #services: Services
  /** Whose turn was longest ago comes first. */
  readonly #jobs: Map<string, Job>
  readonly #metrics: Metrics
  readonly #times: WorkerTimes
  readonly #atOnce: number
  /** What the clock queued for all stores may have so many of them: somebody waits for the others. */
  readonly #inBackground: number
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
      [...jobs.filter((job) => services.settings.sandbox || !job.spec.sandboxOnly), givenUp].map((job) => [
        job.name,
        job,
      ]),
    )
    this.#metrics = metrics
    this.#atOnce = services.database.kind === 'pglite' ? 4 : 8
    this.#inBackground = this.#atOnce / 2
    services.queue.onSent(() => this.#wake?.())
  }

  /** Begins to look for work. Who has the embedded database open was the last to run jobs: those left active are freed. */
  async start(): Promise<void> {
    if (this.#services.database.pglite) {
      await sql`update pgboss.job set state = 'retry', start_after = now() where state = 'active'`.execute(
        this.#services.database.root,
      )
    }
    this.#beat = setInterval(() => void this.#heartbeat(), this.#times.beatMs)
    this.#loop = this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.schedule()
        if ((await this.#claim()).started > 0) continue
      } catch (error) {
        this.#services.log.error({ err: error }, 'the worker could not look for jobs')
      }
      await this.#rest()
    }
  }

  async #rest(): Promise<void> {
    if (this.#stopping) return
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([woken, wait(pollMs)])
    this.#wake = null
  }

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

  /** One at a time, or two that drain together would fill the same room. */
  #claim(wholly = false): Promise<Claim> {
    const claim = this.#claimed.then(() => this.#claimNow(wholly))
    this.#claimed = claim.catch(() => undefined) // its own caller hears of it
    return claim
  }
  #claimed: Promise<unknown> = Promise.resolve()

  /** `wholly`: looks whether anything is unfinished anywhere, too. */
  async #claimNow(wholly: boolean): Promise<Claim> {
    if (this.#running.size >= this.#atOnce) return notLooked
    const names = [...this.#jobs.keys()].filter((name) => this.#room(name) > 0)
    const isWhole = wholly && names.length === this.#jobs.size
    const due = await this.#services.queue.due(names, isWhole)
    // Whoever waits comes first, but for one place.
    const kept = due.some(({ isInBackground }) => isInBackground) && this.#runningInBackground() === 0 ? 1 : 0
    const awaited = due.filter(({ isAwaited }) => isAwaited)
    let started = await this.#take(awaited, 'awaited', this.#atOnce - this.#running.size - kept)
    const inBackground = due.filter(({ isInBackground }) => isInBackground)
    const room = Math.min(this.#atOnce - this.#running.size, this.#inBackground - this.#runningInBackground())
    started += await this.#take(inBackground, 'any', room)
    return { started, isIdle: isWhole && due.length === 0 }
  }

  #runningInBackground(): number {
    let running = 0
    for (const { isAwaited } of this.#running) if (!isAwaited) running += 1
    return running
  }

  /** As many of these queues as there is room for. */
  async #take(of: readonly DueQueue[], which: 'awaited' | 'any', inAll: number): Promise<number> {
    const wanted = of
      .map(({ name }) => ({ name, atMost: Math.min(inAll, this.#room(name)) }))
      .filter(({ atMost }) => atMost > 0)
    if (wanted.length === 0 || this.#stopping) return 0
    const { queue } = this.#services
    const fetched = await queue.fetch(wanted, inAll, which)
    if (this.#stopping) {
      // It may have hung for longer than anybody waits for what would begin now.
      await Promise.all(fetched.map((run) => queue.handBack(run.name, run)))
      return 0
    }
    const behind = queue.behindAnother(fetched.filter(({ mayBeBehind }) => mayBeBehind))
    behind.catch(() => undefined) // each of them hears of it
    for (const each of fetched) {
      const job = this.#jobs.get(each.name)!
      this.#begin(job, each, each.mayBeBehind ? behind : none)
      this.#jobs.delete(job.name)
      this.#jobs.set(job.name, job)
    }
    return fetched.length
  }

  #room(name: string): number {
    let running = 0
    for (const each of this.#running) if (each.job.name === name) running += 1
    return (this.#jobs.get(name)!.spec.concurrency ?? defaultConcurrency) - running
  }

  #begin(job: Job, fetched: FetchedJob, behind: Promise<string[]>): void {
    const running: Running = {
      job,
      fetched,
      isAwaited: fetched.priority >= 0,
      abort: new AbortController(),
      taken: new AbortController(),
      done: Promise.resolve(),
    }
    this.#running.add(running)
    const { trace = null } = fetched.data
    running.done = within(trace, () => this.#execute(running, behind)).finally(() => {
      this.#running.delete(running)
      this.#wake?.()
    })
  }

  /** Until it is recorded what became of it, its heartbeat goes on. */
  async #execute(running: Running, behind: Promise<string[]>): Promise<void> {
    const { job, fetched } = running
    const startedAt = performance.now()
    const { requestId } = fetched.data
    const log = this.#services.log.child({ job: job.name, jobId: fetched.id, requestId })
    const outcome = await this.#outcome(running, behind, log)
    if (outcome.is === 'completed') this.ran += 1
    if (outcome.is === 'failed') this.failed += 1
    if (outcome.is !== 'putBack' && outcome.is !== 'lost') {
      this.#metrics.observeJob(job.name, outcome.is, performance.now() - startedAt)
    }
    const { againMs } = this.#times
    await settle(
      { queue: this.#services.queue, log, over: this.#over.signal, againMs },
      job.name,
      fetched,
      outcome,
    )
  }

  async #outcome(running: Running, behind: Promise<string[]>, log: Logger): Promise<Outcome> {
    const { job, fetched, abort, taken } = running
    const isLast = fetched.retryCount >= fetched.retryLimit
    const attempt: JobAttempt = {
      jobId: fetched.id,
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
      if ((await behind).includes(fetched.id)) return aWhile
      const ctx = job.store ? await system.forStore(storeId ?? '', userId) : system
      // A store that is gone took its work with it.
      if (!ctx) return completed
      // What the clock queued was written with nothing else.
      if (job !== givenUp && storeId !== null && running.isAwaited) {
        await settled(held.database, storeId, fetched.id, abort.signal)
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
        return aWhile
      }
      const ms = waitsFor(error, this.#services.clock.ms())
      if (ms !== null) {
        log.warn({ err: error, waitMs: ms }, 'it waits for a provider')
        return { is: 'waiting', ms }
      }
      log.error({ err: error, attempt: attempt.number, isLast }, 'job failed')
      return { is: 'failed', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  async #heartbeat(): Promise<void> {
    try {
      for (const running of this.#running) {
        const isOurs = await this.#services.queue.touch(running.job.name, running.fetched)
        if (!isOurs && this.#running.has(running)) running.taken.abort(new JobLost())
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
      const { started, isIdle } = this.#loop ? notLooked : await this.#claim(true)
      const isOver = this.#stopping || performance.now() >= until
      const runs = this.#running.size > 0
      if (started === 0 && runs) {
        // All of them, or each that ends would ask anew what is due: with many small jobs that costs as much as they do.
        const left = Math.max(0, Math.min(patienceMs, until - performance.now()))
        await Promise.race([Promise.all([...this.#running].map((each) => each.done)), wait(left)])
      }
      if (!isOver && (started > 0 || runs)) continue
      // What one process has claimed and not begun yet, another knows only from the queue.
      const pending = isIdle ? 0 : await this.#services.queue.unfinished([...this.#jobs.keys()])
      const answer = { ran: this.ran - before.ran, failed: this.failed - before.failed, pending }
      if (pending === 0 || isOver) return answer
      await wait(drainLooksEveryMs)
    }
  }

  /** Takes no more work, lets what runs finish for a while, hands back the rest. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake?.()
    const timeIsUp = wait(this.#times.finishMs)
    await Promise.race([this.#loop, timeIsUp])
    for (const each of this.#running) each.abort.abort(new WorkerStopping())
    const all = Promise.allSettled([...this.#running].map((each) => each.done))
    await Promise.race([all, timeIsUp])
    // Each hands itself back; what could not be recorded so far is not tried again.
    this.#over.abort()
    for (const each of this.#running) each.taken.abort(new WorkerStopping())
    await all
    if (this.#beat) clearInterval(this.#beat)
  }
}
