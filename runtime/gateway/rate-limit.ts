/**
 * Requests of a key (a store, an address) in a window, a minute unless said otherwise, that begins with its first.
 *
 * In one process (the embedded database) a Map counts, exactly and for free. Where several instances share a
 * PostgreSQL they share a counter there, also exactly: each request has its place in the shared line, and those that
 * come while a count is under way are counted together in the next, whosever they are: the more requests, the fewer
 * statements each costs. Only for limits above 10,000 a minute does an instance go ahead of the count, up to a quarter
 * of the limit, and tells of its requests twenty times a second; a burst over several instances may then pass the limit
 * by that quarter for each instance but one.
 */

import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { Gathered } from './gathered.ts'

/** The longest window there may be: counters are kept as long. */
const longestWindowMs = 60 * minuteMs
const countedOneByOne = 10_000
const toldEveryMs = 50

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
}

interface Counter {
  startedAt: number
  /** Known of all instances, this one's reported requests included. */
  shared: number
  /** Requests counted here that the database has not been told of. */
  open: Batch | null
  flushing: boolean
  /** Set while a batch that nobody waits for is left to grow. */
  growing: NodeJS.Timeout | null
}

interface Batch {
  size: number
  /** Whether a request waits for its count. */
  awaited: boolean
  /** The shared count with this batch in it. */
  total: PromiseWithResolvers<number>
}

/** Requests of one key that the database is told of, and what it knows then. */
interface Told {
  key: string
  startedAt: number
  size: number
}
interface Count {
  used: number
  startedAt: number
}

/** The counters that all instances share; one for each process. */
export class SharedCounters {
  readonly #database: Database
  readonly #byWindow = new Map<number, Gathered<Told, Count>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Adds to a counter; a window that is over begins anew. */
  add(told: Told, windowMs: number): Promise<Count> {
    let gathered = this.#byWindow.get(windowMs)
    if (!gathered) {
      gathered = new Gathered(
        (all) => this.#addAll(all, windowMs),
        ({ key }) => key,
      )
      this.#byWindow.set(windowMs, gathered)
    }
    return gathered.ask(told)
  }

  /** Forgets windows long over. `now` in milliseconds. */
  async sweep(now: number): Promise<void> {
    await this.#database.query('delete from rate_counters where started_at < $1', [
      new Date(now - 2 * longestWindowMs),
    ])
  }

  async #addAll(all: readonly Told[], windowMs: number): Promise<Count[]> {
    const rows = await this.#database.query<{ key: string; used: number; started_at: Date }>(countText, [
      all.map(({ key }) => key),
      all.map(({ startedAt }) => new Date(startedAt).toISOString()),
      all.map(({ size }) => size),
      windowMs,
    ])
    const counts = new Map(rows.map((row) => [row.key, row]))
    return all.map(({ key }) => {
      const { used, started_at } = counts.get(key)!
      return { used, startedAt: started_at.getTime() }
    })
  }
}

export class RateLimiter {
  readonly #clock: Clock
  readonly #shared: SharedCounters | null
  readonly #prefix: string
  readonly limit: number
  readonly #windowMs: number
  readonly #counters = new Map<string, Counter>()
  #sweptAt = 0

  /** `shared` null: this process is the only one. `prefix` keeps kinds of keys apart. */
  constructor(
    clock: Clock,
    limit: number,
    prefix: string,
    shared: SharedCounters | null,
    windowMs = minuteMs,
  ) {
    if (windowMs > longestWindowMs) throw new Error('No window is longer than an hour')
    this.#clock = clock
    this.limit = limit
    this.#prefix = prefix
    this.#shared = shared
    this.#windowMs = windowMs
  }

  /**
   * Counts a request. Synchronous where nothing has to be asked. `now` in milliseconds, read since anything was last
   * waited for: a later instant may have been counted already otherwise, and an earlier one begins a new window.
   */
  hit(key: string, now = this.#clock.ms()): Verdict | Promise<Verdict> {
    if (now - this.#sweptAt > minuteMs || now < this.#sweptAt) this.#sweep(now)
    let counter = this.#counters.get(key)
    if (!counter || now - counter.startedAt >= this.#windowMs || now < counter.startedAt) {
      counter = { startedAt: now, shared: 0, open: null, flushing: false, growing: null }
      this.#counters.set(key, counter)
    }
    if (!this.#shared) {
      counter.shared += 1
      return this.#verdict(counter, counter.shared, now)
    }
    if (counter.shared > this.limit) return this.#verdict(counter, counter.shared, now)
    counter.open ??= openBatch()
    const batch = counter.open
    batch.size += 1
    const place = batch.size
    const known = counter.shared + place
    if (this.limit > countedOneByOne && known <= this.limit / 4) {
      this.#letGrow(key, counter, this.#shared)
      return this.#verdict(counter, known, now)
    }
    batch.awaited = true
    if (!counter.flushing) void this.#flush(key, counter, this.#shared)
    return this.#exact(counter, batch, place, now)
  }

  /** Waits until the database has counted this request too: its place in line decides. */
  async #exact(counter: Counter, batch: Batch, place: number, now: number): Promise<Verdict> {
    return this.#verdict(counter, (await batch.total.promise) - batch.size + place, now)
  }

  #letGrow(key: string, counter: Counter, shared: SharedCounters): void {
    if (counter.flushing || counter.growing) return
    counter.growing = setTimeout(() => this.#flush(key, counter, shared), toldEveryMs).unref()
  }

  /** Tells the database of one batch after the other; requests that come meanwhile make the next. */
  async #flush(key: string, counter: Counter, shared: SharedCounters): Promise<void> {
    if (counter.growing) clearTimeout(counter.growing)
    counter.growing = null
    counter.flushing = true
    for (let batch = takeBatch(counter); batch; batch = isAwaited(counter) ? takeBatch(counter) : null) {
      await this.#tell(key, counter, batch, shared)
    }
    counter.flushing = false
    if (counter.open) this.#letGrow(key, counter, shared)
  }

  async #tell(key: string, counter: Counter, batch: Batch, shared: SharedCounters): Promise<void> {
    try {
      const { startedAt } = counter
      const told = { key: `${this.#prefix}:${key}`, startedAt, size: batch.size }
      const count = await shared.add(told, this.#windowMs)
      counter.shared = count.used
      counter.startedAt = count.startedAt
      batch.total.resolve(counter.shared)
    } catch (error) {
      batch.total.reject(error)
    }
  }

  #verdict(counter: Counter, used: number, now: number): Verdict {
    return {
      allowed: used <= this.limit,
      limit: this.limit,
      remaining: Math.max(0, this.limit - used),
      resetSeconds: Math.max(1, Math.ceil((counter.startedAt + this.#windowMs - now) / 1000)),
    }
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [key, counter] of this.#counters) {
      if (now - counter.startedAt >= this.#windowMs || now < counter.startedAt) this.#counters.delete(key)
    }
  }
}

function takeBatch(counter: Counter): Batch | null {
  const batch = counter.open
  counter.open = null
  return batch
}

const isAwaited = (counter: Counter): boolean => counter.open?.awaited ?? false

function openBatch(): Batch {
  const total = Promise.withResolvers<number>()
  // Whoever waits for it sees a failure; a request that was let through already has nobody to tell.
  total.promise.catch(() => undefined)
  return { size: 0, awaited: false, total }
}

/**
 * One instance's requests onto the shared counters; a window that is over begins anew. In the order of the keys: no two
 * instances wait for each other's.
 */
const countText = `
  insert into rate_counters as c (key, started_at, used)
  select * from unnest($1::text[], $2::timestamptz[], $3::int[]) as told (key, started_at, used) order by key
  on conflict (key) do update set
    used = case when c.started_at <= excluded.started_at - $4::float8 * interval '1 ms'
      then excluded.used else c.used + excluded.used end,
    started_at = case when c.started_at <= excluded.started_at - $4::float8 * interval '1 ms'
      then excluded.started_at else c.started_at end
  returning key, used, started_at`

/** Limiters by name, so that whoever names the same one counts on the same. */
export class Limits {
  readonly #clock: Clock
  readonly #shared: SharedCounters | null
  readonly #limiters = new Map<string, RateLimiter>()

  /** `shared` as `RateLimiter` takes it. */
  constructor(clock: Clock, shared: SharedCounters | null) {
    this.#clock = clock
    this.#shared = shared
  }

  /** Counts one of at most `limit` in a window (milliseconds, an hour at most). */
  hit(name: string, key: string, limit: number, windowMs = minuteMs): Verdict | Promise<Verdict> {
    let limiter = this.#limiters.get(name)
    if (!limiter) {
      limiter = new RateLimiter(this.#clock, limit, name, this.#shared, windowMs)
      this.#limiters.set(name, limiter)
    }
    return limiter.hit(key)
  }
}
