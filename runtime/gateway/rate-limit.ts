/**
 * Requests of a key (a store, an address) in a window, a minute unless said otherwise, that begins with its first.
 *
 * In one process (the embedded database) a Map counts, exactly and for free. Where several instances share a
 * PostgreSQL they share a counter there, also exactly: each request has its place in the shared line, and those that
 * come while a count is under way are counted together in the next. Only for limits above 10,000 a minute does an
 * instance go ahead of the count, up to a quarter of the limit, and tells of its requests twenty times a second, so
 * that many requests a second cost few statements; a burst over several instances may then pass the limit by that
 * quarter for each instance but one.
 */
import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'

const minuteMs = 60_000
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

export class RateLimiter {
  readonly #clock: Clock
  readonly #database: Database | null
  readonly #prefix: string
  readonly limit: number
  readonly #windowMs: number
  readonly #counters = new Map<string, Counter>()
  #sweptAt = 0

  /** `database` null: this process is the only one. `prefix` keeps kinds of keys apart. */
  constructor(clock: Clock, limit: number, prefix: string, database: Database | null, windowMs = minuteMs) {
    if (windowMs > longestWindowMs) throw new Error('No window is longer than an hour')
    this.#clock = clock
    this.limit = limit
    this.#prefix = prefix
    this.#database = database
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
    if (!this.#database) {
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
      this.#letGrow(key, counter, this.#database)
      return this.#verdict(counter, known, now)
    }
    batch.awaited = true
    if (!counter.flushing) void this.#flush(key, counter, this.#database)
    return this.#exact(counter, batch, place, now)
  }

  /** Waits until the database has counted this request too: its place in line decides. */
  async #exact(counter: Counter, batch: Batch, place: number, now: number): Promise<Verdict> {
    return this.#verdict(counter, (await batch.total.promise) - batch.size + place, now)
  }

  #letGrow(key: string, counter: Counter, database: Database): void {
    if (counter.flushing || counter.growing) return
    counter.growing = setTimeout(() => this.#flush(key, counter, database), toldEveryMs).unref()
  }

  /** Tells the database of one batch after the other; requests that come meanwhile make the next. */
  async #flush(key: string, counter: Counter, database: Database): Promise<void> {
    if (counter.growing) clearTimeout(counter.growing)
    counter.growing = null
    counter.flushing = true
    for (let batch = takeBatch(counter); batch; batch = isAwaited(counter) ? takeBatch(counter) : null) {
      await this.#tell(key, counter, batch, database)
    }
    counter.flushing = false
    if (counter.open) this.#letGrow(key, counter, database)
  }

  async #tell(key: string, counter: Counter, batch: Batch, database: Database): Promise<void> {
    try {
      const [row] = await database.query<{ used: number; started_at: Date }>(countText, [
        `${this.#prefix}:${key}`,
        new Date(counter.startedAt),
        batch.size,
        new Date(counter.startedAt - this.#windowMs),
      ])
      counter.shared = row!.used
      counter.startedAt = row!.started_at.getTime()
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

/** One instance's requests onto the shared counter; a window that is over begins anew. */
const countText = `
  insert into rate_counters as c (key, started_at, used) values ($1, $2, $3)
  on conflict (key) do update set
    used = case when c.started_at <= $4 then excluded.used else c.used + excluded.used end,
    started_at = case when c.started_at <= $4 then excluded.started_at else c.started_at end
  returning used, started_at`

/** Forgets windows long over. */
export async function sweepRateCounters(database: Database, clock: Clock): Promise<void> {
  await database.query('delete from rate_counters where started_at < $1', [
    new Date(clock.ms() - 2 * longestWindowMs),
  ])
}

/** Limiters by name, so that whoever names the same one counts on the same. */
export class Limits {
  readonly #clock: Clock
  readonly #database: Database | null
  readonly #limiters = new Map<string, RateLimiter>()

  /** `database` as `RateLimiter` takes it. */
  constructor(clock: Clock, database: Database | null) {
    this.#clock = clock
    this.#database = database
  }

  /** Counts one of at most `limit` in a window (milliseconds, an hour at most). */
  hit(name: string, key: string, limit: number, windowMs = minuteMs): Verdict | Promise<Verdict> {
    let limiter = this.#limiters.get(name)
    if (!limiter) {
      limiter = new RateLimiter(this.#clock, limit, name, this.#database, windowMs)
      this.#limiters.set(name, limiter)
    }
    return limiter.hit(key)
  }
}
