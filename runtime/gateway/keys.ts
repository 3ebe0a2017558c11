/**
 * API keys, looked up by hash and cached for a short lease.
 * A change of access (a key is revoked, a member is removed) must hold on every instance once the change is answered.
 * An instance uses a cached entry only until the lease is over, counted from when it sent the query. The writer of a
 * change waits as long as a lease after the commit: then no instance still acts on the old state. The instances need no
 * messages for this, so no message can be missed.
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
  /** When the query was sent, by the monotonic clock in milliseconds. */
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
  /** The last use of each key that is not written yet. */
  readonly #uses = new Map<string, KeyUse>()
  /** When each key's use was last written, for the last minute. */
  readonly #written = new Map<string, number>()
  readonly #hashesByStore = new Map<string, Set<string>>()

  /** `alone`: no other process uses this database, so a change of access only has to clear this cache. */
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
   * Finds the access that a key gives, or null; returns no promise while it is cached. `now` is by the clock, `running`
   * by the monotonic clock; both are in milliseconds and read after the last await.
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
    // Refreshed in advance while the lease is valid, so that a frequent caller never waits.
    if (age >= this.#leaseMs / 2 && !this.#asking.has(hash)) this.#ask(hash).catch(() => undefined)
    return this.#current(known!.access, now)
  }

  /** Whether this instance knows that the key worked recently, without a query. */
  hasWorked(key: string): boolean {
    return this.#hashes.has(key)
  }

  /** Returns null if the text does not have the form of a key. */
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

  /** Checks the expiry, which depends on the clock and so cannot be cached, and notes the use. */
  #current(access: Access | null, now: number): Access | null {
    if (!access) return null
    if (access.expiresAt !== null && now >= access.expiresAt) return null
    const { keyId, storeId } = access
    const last = this.#uses.get(keyId)?.at ?? this.#written.get(keyId)
    if (last === undefined || now - last >= useWrittenEveryMs)
      this.#uses.set(keyId, { storeId, keyId, at: now })
    return access
  }

  /** Makes a change of access hold on every instance. Called after the change is committed. */
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
      // These uses are written with the next ones: otherwise a key that was used only once would seem never used.
      for (const use of uses) if (!this.#uses.has(use.keyId)) this.#uses.set(use.keyId, use)
      throw error
    }
  }
}
