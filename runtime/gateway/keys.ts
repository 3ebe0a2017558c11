/**
 * Keys, looked up by hash and remembered for a short lease.
 *
 * A change of who may do what (a key revoked, a member removed) must hold on every instance once its answer is out.
 * So an instance acts on what it read only until the lease since it *asked* is over, and whoever makes such a change
 * waits that long after the commit: nobody can then still act on the old state. No messages, no missed ones.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { type Access, findAccesses, type KeyUse, recordKeyUse } from '#db/access'
import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { sha256 } from '#runtime/values/ids'
import { Gathered } from './gathered.ts'

interface Remembered {
  access: Access | null
  /** On the machine's own running clock. */
  askedAt: number
}

const keyShape = /^mk_(?:live|test)_[0-9A-Za-z]{43}$/
const useWrittenEveryMs = minuteMs
const rememberedAtMost = 50_000

export class KeyRing {
  readonly #database: Database
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #alone: boolean
  readonly #remembered = new Map<string, Remembered>()
  /** Of keys that are remembered: hashing one costs as much as looking up its route. */
  readonly #hashes = new Map<string, string>()
  readonly #asking = new Map<string, Promise<Access | null>>()
  readonly #read: Gathered<string, Access | null>
  /** By key, those that are to be written. */
  readonly #uses = new Map<string, KeyUse>()
  /** By key, what was written within the last minute. */
  readonly #written = new Map<string, number>()
  readonly #owner = new Map<string, Set<string>>()

  /** `alone`: no other process acts on this database, so forgetting here is enough. */
  constructor(database: Database, clock: Clock, leaseMs: number, alone: boolean) {
    this.#database = database
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#alone = alone
    this.#read = new Gathered(
      (hashes) => findAccesses(database, hashes),
      (hash) => hash,
    )
  }

  /**
   * The holder of a key, or null; synchronous while remembered. `now` as the clock says, `running` as the machine's own
   * running clock, both in milliseconds and read since anything was last waited for.
   */
  find(
    key: string,
    now = this.#clock.ms(),
    running = performance.now(),
  ): Access | null | Promise<Access | null> {
    const hash = this.#hashes.get(key) ?? this.#hashOf(key)
    if (hash === null) return null
    const known = this.#remembered.get(hash)
    const age = known ? running - known.askedAt : Number.POSITIVE_INFINITY
    if (age >= this.#leaseMs) return this.#ask(hash)
    // Who comes often does not wait: the next lease is asked for while this one holds.
    if (age >= this.#leaseMs / 2 && !this.#asking.has(hash)) this.#ask(hash).catch(() => undefined)
    return this.#current(known!.access, now)
  }

  /** Whether this instance has seen the key work lately; nothing is asked. */
  hasWorked(key: string): boolean {
    return this.#hashes.has(key)
  }

  /** Null: it is no key at all. */
  #hashOf(key: string): string | null {
    if (!keyShape.test(key)) return null
    const hash = sha256(key)
    if (this.#remembered.get(hash)?.access) this.#hashes.set(key, hash)
    return hash
  }

  async #ask(hash: string): Promise<Access | null> {
    let asking = this.#asking.get(hash)
    if (!asking) {
      const askedAt = performance.now()
      asking = this.#read
        .ask(hash)
        .then((access) => {
          // A ring that forgot while the question was under way must not remember the answer.
          if (this.#asking.get(hash) === asking) this.#remember(hash, access, askedAt)
          return access
        })
        .finally(() => {
          if (this.#asking.get(hash) === asking) this.#asking.delete(hash)
        })
      this.#asking.set(hash, asking)
    }
    return this.#current(await asking, this.#clock.ms())
  }

  #remember(hash: string, access: Access | null, askedAt: number): void {
    if (this.#remembered.size >= rememberedAtMost) {
      this.#remembered.clear()
      this.#hashes.clear()
      this.#owner.clear()
    }
    this.#remembered.set(hash, { access, askedAt })
    if (access) {
      const hashes = this.#owner.get(access.storeId) ?? new Set()
      this.#owner.set(access.storeId, hashes.add(hash))
    }
  }

  /** Expiry is compared with the clock at every request, whatever is remembered. */
  #current(access: Access | null, now: number): Access | null {
    if (!access) return null
    if (access.expiresAt !== null && now >= access.expiresAt) return null
    const { keyId, storeId } = access
    const last = this.#uses.get(keyId)?.at ?? this.#written.get(keyId)
    if (last === undefined || now - last >= useWrittenEveryMs)
      this.#uses.set(keyId, { storeId, keyId, at: now })
    return access
  }

  /** Holds on every instance once it is done. Called after the commit of a change. */
  async changed(storeId: string): Promise<void> {
    for (const hash of this.#owner.get(storeId) ?? []) {
      this.#remembered.delete(hash)
      this.#asking.delete(hash)
    }
    this.#asking.clear()
    if (!this.#alone) await wait(this.#leaseMs + 20)
  }

  /** Writes down the last uses; called now and then, and at the end. */
  async writeUses(): Promise<void> {
    const now = this.#clock.ms()
    for (const [keyId, at] of this.#written) if (now - at >= useWrittenEveryMs) this.#written.delete(keyId)
    const { awayStores } = this.#database
    const uses = [...this.#uses.values()].filter(({ storeId }) => !awayStores.has(storeId))
    if (uses.length === 0) return
    for (const { keyId, at } of uses) {
      this.#uses.delete(keyId)
      this.#written.set(keyId, at)
    }
    try {
      await recordKeyUse(this.#database, uses)
    } catch (error) {
      // They are written with the next ones: a key that was used once, just then, would seem never to have been.
      for (const use of uses) if (!this.#uses.has(use.keyId)) this.#uses.set(use.keyId, use)
      throw error
    }
  }
}
