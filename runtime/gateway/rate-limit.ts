/**
 * Rate limits by fixed windows. The first request of a key (a store, an address) begins its window, a minute by
 * default; requests in a window beyond the limit are refused. A single process (the embedded database) counts in a
 * Map. Instances that share a PostgreSQL count there, exactly. Requests that arrive while a counting statement is
 * running are counted by the next one, for all keys together, so a busy instance sends one statement at a time. A key
 * known to be above its limit is refused without a statement until its window ends.
 */

import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'

/** The longest window; counters are kept as long. */
const longestWindowMs = 60 * minuteMs
const keysAtOnce = 500

export interface Verdict {
  allowed: boolean
  /** The name of the limit. */
  policy: string
  windowSeconds: number
  limit: number
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
}

interface Counter {
  startedAt: number
  used: number
}

/** Requests of one key that are counted together. */
interface Batch extends Pick<Counter, 'startedAt'> {
  windowMs: number
  size: number
  counted: PromiseWithResolvers<Counter>
}

/** The counters that all instances share; one for each process. */
export class SharedCounters {
  readonly #database: Database
  readonly #open = new Map<string, Batch>()
  #isCounting = false

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Counts one request and returns its position in the window. If the window is over, a new one begins at `startedAt`.
   */
  async add(key: string, startedAt: number, windowMs: number): Promise<Counter> {
    let batch = this.#open.get(key)
    if (!batch) {
      batch = { startedAt, windowMs, size: 0, counted: Promise.withResolvers() }
      this.#open.set(key, batch)
    }
    batch.size += 1
    const place = batch.size
    if (!this.#isCounting) {
      this.#isCounting = true
      // Deferred to a microtask, so that the batch includes other requests of the same turn of the event loop.
      queueMicrotask(() => void this.#countAll())
    }
    const counter = await batch.counted.promise
    return { startedAt: counter.startedAt, used: counter.used - batch.size + place }
  }

  /** Deletes windows that began more than two hours ago. `now` is in milliseconds. */
  async sweep(now: number): Promise<void> {
    await this.#database.query('delete from rate_counters where started_at < $1', [
      new Date(now - 2 * longestWindowMs),
    ])
  }

  async #countAll(): Promise<void> {
    while (this.#open.size > 0) {
      const batches = this.#next()
      for (const key of batches.keys()) this.#open.delete(key)
      try {
        for (const [key, counter] of await this.#count(batches)) batches.get(key)!.counted.resolve(counter)
      } catch (error) {
        for (const { counted } of batches.values()) counted.reject(error)
      }
    }
    this.#isCounting = false
  }

  /** The next batches, all with the same window length, since one statement counts for one length. */
  #next(): Map<string, Batch> {
    const open = [...this.#open]
    const { windowMs } = open[0]![1]
    return new Map(open.filter(([, batch]) => batch.windowMs === windowMs).slice(0, keysAtOnce))
  }

  async #count(batches: ReadonlyMap<string, Batch>): Promise<[string, Counter][]> {
    const all = [...batches.values()]
    const rows = await this.#database.query<{ key: string; used: number; started_at: Date }>(
      countText,
      [
        [...batches.keys()],
        all.map(({ startedAt }) => new Date(startedAt).toISOString()),
        all.map(({ size }) => size),
        all[0]!.windowMs,
      ],
      'once',
    )
    return rows.map((row) => [row.key, { used: row.used, startedAt: row.started_at.getTime() }])
  }
}

/** Writes the rows in the order of their keys, so that two instances never deadlock. */
const countText = `
  insert into rate_counters as c (key, started_at, used)
  select key, started_at, used
  from unnest($1::text[], $2::timestamptz[], $3::int[]) as batch (key, started_at, used) order by key
  on conflict (key) do update set
    used = case when c.started_at <= excluded.started_at - $4::float8 * interval '1 ms'
      then excluded.used else c.used + excluded.used end,
    started_at = case when c.started_at <= excluded.started_at - $4::float8 * interval '1 ms'
      then excluded.started_at else c.started_at end
  returning key, used, started_at`

export class RateLimiter {
  readonly #clock: Clock
  readonly #shared: SharedCounters | null
  readonly #prefix: string
  readonly limit: number
  readonly #windowMs: number
  readonly #counters = new Map<string, Counter>()
  #sweptAt = 0

  /** `shared` is null if this process is the only one. `prefix` separates the limiters in the shared table. */
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
   * Counts a request. Returns no promise if no query is needed. `now` is in milliseconds and must be read after the
   * last await: an instant earlier than the window's start counts as a moved clock and begins a new window.
   */
  hit(key: string, now = this.#clock.ms()): Verdict | Promise<Verdict> {
    if (now - this.#sweptAt > minuteMs || now < this.#sweptAt) this.#sweep(now)
    let counter = this.#counters.get(key)
    if (!counter || this.#isOver(counter, now)) {
      counter = { startedAt: now, used: 0 }
      this.#counters.set(key, counter)
    }
    if (!this.#shared) counter.used += 1
    else if (counter.used <= this.limit) return this.#hitShared(this.#shared, key, counter, now)
    return this.#verdict(counter, now)
  }

  async #hitShared(shared: SharedCounters, key: string, counter: Counter, now: number): Promise<Verdict> {
    const counted = await shared.add(`${this.#prefix}:${key}`, counter.startedAt, this.#windowMs)
    Object.assign(counter, counted)
    return this.#verdict(counted, now)
  }

  #verdict({ startedAt, used }: Counter, now: number): Verdict {
    return {
      allowed: used <= this.limit,
      policy: this.#prefix,
      windowSeconds: this.#windowMs / 1000,
      limit: this.limit,
      remaining: Math.max(0, this.limit - used),
      resetSeconds: Math.max(1, Math.ceil((startedAt + this.#windowMs - now) / 1000)),
    }
  }

  #isOver({ startedAt }: Counter, now: number): boolean {
    return now - startedAt >= this.#windowMs || now < startedAt
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [key, counter] of this.#counters) if (this.#isOver(counter, now)) this.#counters.delete(key)
  }
}

/** Limiters by name: equal names share their counts. */
export class Limits {
  readonly #clock: Clock
  readonly #shared: SharedCounters | null
  readonly #limiters = new Map<string, RateLimiter>()

  /** `shared` as in `RateLimiter`. */
  constructor(clock: Clock, shared: SharedCounters | null) {
    this.#clock = clock
    this.#shared = shared
  }

  /** Counts one request; allows `limit` requests per window. `windowMs`: at most an hour. */
  hit(name: string, key: string, limit: number, windowMs = minuteMs): Verdict | Promise<Verdict> {
    let limiter = this.#limiters.get(name)
    if (!limiter) {
      limiter = new RateLimiter(this.#clock, limit, name, this.#shared, windowMs)
      this.#limiters.set(name, limiter)
    }
    return limiter.hit(key)
  }
}
