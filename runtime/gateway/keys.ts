/**
 * API keys, looked up by hash and cached for a short lease.
 * A change of access (a key revoked, a member removed) must hold on every instance once it is answered. So an instance
 * uses a cached entry only until the lease since it *asked* is over, and the writer of a change waits that long after
 * the commit: no instance can then still act on the old state. This needs no messages, so none can be missed.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { type Access, findAccesses, type KeyUse, recordKeyUse } from '#db/access'
import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { sha256 } from '#runtime/values/ids'
import { BatchLoader } from './batch-loader.ts'

interface CachedAccess {
  access: Access | null
  /** By the monotonic clock. */
  askedAt: number
}

const keyShape = /^mk_(?:live|test)_[0-9A-Za-z]{43}$/
const useWrittenEveryMs = minuteMs
const cachedAtMost = 50_000

export class KeyRing {
  readonly #database: Database
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #isOnlyProcess: boolean
  readonly #cached = new Map<string, CachedAccess>()
  /** Hashes of cached keys: hashing costs as much as a route lookup. */
  readonly #hashes = new Map<string, string>()
  readonly #asking = new Map<string, Promise<Access | null>>()
  readonly #read: BatchLoader<string, Access | null>
  /** Uses by key that are to be written. */
  readonly #uses = new Map<string, KeyUse>()
  /** Writes of the last minute, by key. */
  readonly #written = new Map<string, number>()
  readonly #hashesByStore = new Map<string, Set<string>>()

  /** `alone`: no other process acts on this database, so clearing this cache is enough. */
  constructor(database: Database, clock: Clock, leaseMs: number, alone: boolean) {
    this.#database = database
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#isOnlyProcess = alone
    this.#read = new BatchLoader(
      (hashes) => findAccesses(database, hashes),
      (hash) => hash,
    )
  }

  /**
   * Finds the holder of a key, or null; synchronous while cached. `now` by the clock and `monotonicMs` by the monotonic
   * clock, both in milliseconds and read after the last await.
   */
  find(
    key: string,
    now = this.#clock.ms(),
    running = performance.now(),
  ): Access | null | Promise<Access | null> {
    const hash = this.#hashes.get(key) ?? this.#hashOf(key)
    if (hash === null) return null
    const known = this.#cached.get(hash)
    const age = known ? running - known.askedAt : Number.POSITIVE_INFINITY
    if (age >= this.#leaseMs) return this.#ask(hash)
    // A frequent caller does not wait: the next lease is requested while this one is valid.
    if (age >= this.#leaseMs / 2 && !this.#asking.has(hash)) this.#ask(hash).catch(() => undefined)
    return this.#current(known!.access, now)
  }

  /** Whether this instance knows that the key worked recently, without a query. */
  hasWorked(key: string): boolean {
    return this.#hashes.has(key)
  }

  /** Null: it does not have the form of a key. */
  #hashOf(key: string): string | null {
    if (!keyShape.test(key)) return null
    const hash = sha256(key)
    if (this.#cached.get(hash)?.access) this.#hashes.set(key, hash)
    return hash
  }

  async #ask(hash: string): Promise<Access | null> {
    let asking = this.#asking.get(hash)
    if (!asking) {
      const askedAt = performance.now()
      asking = this.#read
        .load(hash)
        .then((access) => {
          // If the cache was cleared while the query ran, the result must not be cached.
          if (this.#asking.get(hash) === asking) this.#cache(hash, access, askedAt)
          return access
        })
        .finally(() => {
          if (this.#asking.get(hash) === asking) this.#asking.delete(hash)
        })
      this.#asking.set(hash, asking)
    }
    return this.#current(await asking, this.#clock.ms())
  }

  #cache(hash: string, access: Access | null, askedAt: number): void {
    if (this.#cached.size >= cachedAtMost) {
      this.#cached.clear()
      this.#hashes.clear()
      this.#hashesByStore.clear()
    }
    this.#cached.set(hash, { access, askedAt })
    if (access) {
      const hashes = this.#hashesByStore.get(access.storeId) ?? new Set()
      this.#hashesByStore.set(access.storeId, hashes.add(hash))
    }
  }

  /** Expiry is compared with the clock at every request, cached or not. */
  #current(access: Access | null, now: number): Access | null {
    if (!access) return null
    if (access.expiresAt !== null && now >= access.expiresAt) return null
    const { keyId, storeId } = access
    const last = this.#uses.get(keyId)?.at ?? this.#written.get(keyId)
    if (last === undefined || now - last >= useWrittenEveryMs)
      this.#uses.set(keyId, { storeId, keyId, at: now })
    return access
  }

  /** Makes a change of access hold on every instance. Called after its commit. */
  async invalidateStore(storeId: string): Promise<void> {
    for (const hash of this.#hashesByStore.get(storeId) ?? []) {
      this.#cached.delete(hash)
      this.#asking.delete(hash)
    }
    this.#asking.clear()
    if (!this.#isOnlyProcess) await wait(this.#leaseMs + 20)
  }

  /** Writes the last uses; called periodically and at shutdown. */
  async flushUses(): Promise<void> {
    const now = this.#clock.ms()
    for (const [keyId, at] of this.#written) if (now - at >= useWrittenEveryMs) this.#written.delete(keyId)
    const { unreachableStores } = this.#database
    const uses = [...this.#uses.values()].filter(({ storeId }) => !unreachableStores.has(storeId))
    if (uses.length === 0) return
    for (const { keyId, at } of uses) {
      this.#uses.delete(keyId)
      this.#written.set(keyId, at)
    }
    try {
      await recordKeyUse(this.#database, uses)
    } catch (error) {
      // Written with the next ones: otherwise a key that was used only once would seem never used.
      for (const use of uses) if (!this.#uses.has(use.keyId)) this.#uses.set(use.keyId, use)
      throw error
    }
  }
}
