// biome-ignore-all lint/plugin/clock: instances agree on a lease by the clock of their database: a sandbox moves ours
/** `Idempotency-Key`: one effect and one answer for a write, however often it is sent within 24 hours. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { type ApiError, refuse, sqlState } from '#runtime/errors'
import { newId, sha256 } from '#runtime/values/ids'
import type { Answer } from './answers.ts'
import {
  type ClaimKey,
  deleteClaim,
  divisionByZero,
  findStoredAnswer,
  insertClaim,
  overwriteStoredAnswer,
  type RequestHash,
  recordWritten,
  renewClaim,
  type StoredText,
  storeAnswerOrFail,
  storeAnswerRow,
} from './claim-rows.ts'

const retentionMs = dayMs
const renewEveryMs = 3_000
/**
 * The process of a claim is gone if it renews nothing while another process watches for this long, and reads the claim
 * all the time: while the database is away, nobody can renew.
 */
const watchMs = 10_000
const watchEveryMs = 500
/** A longer gap between two reads may be an outage of the database, or of this process. */
const watchGapMs = 2_000
/**
 * A claim renewed less than this long ago is trusted without a query. The rest of `overdueMs + watchMs` is left for the
 * commit to reach the database.
 */
const trustedForMs = 9_000
const visibleCharacters = /^[\x21-\x7e]{1,255}$/

/** Parses the key of a request; null without one. Refuses an invalid one. */
export function idempotencyKey(header: string | undefined, atLeast = 1): string | null {
  if (header === undefined) return null
  if (!visibleCharacters.test(header) || header.length < atLeast) {
    throw refuse('bad_request', `Idempotency-Key: must have ${atLeast} to 255 visible characters`)
  }
  return header
}

/** `condition`: the `If-Match` header. The same request with another condition is a different request. */
export function hashRequest(method: string, address: string, body: string, condition?: string): RequestHash {
  const hash = (content: string): string =>
    sha256(`${method}\n${address}\n${content}${condition === undefined ? '' : `\n${condition}`}`)
  return { meaning: hash(sortFields(body)), text: hash(body) }
}

/** Rewrites a JSON text with sorted fields and without white space. Returns any other text unchanged. */
function sortFields(body: string): string {
  if (!body.trimStart().startsWith('{')) return body
  try {
    return JSON.stringify(JSON.parse(body), (_, value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
      return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    })
  } catch {
    // Invalid JSON, which the route refuses.
    return body
  }
}

export const stillRunningError = (): ApiError =>
  refuse('conflict', 'The first request with this Idempotency-Key is still running')

/**
 * A request's claim on its key. It has an owner and a lease by the database's clock, which is renewed while the request
 * runs. Nothing commits without the claim: if a request was suspended for so long that another request took over the
 * key, its answer is not stored and its transaction fails.
 */
export class Claim {
  readonly key: string
  readonly #hash: RequestHash
  /**
   * Whether each transaction writes to the claim's row as it commits: a retry after a lost answer does not rerun it.
   */
  #isMarked: boolean
  /** A UUIDv7. Releases that renewed claims every 20 seconds had owners of version 4, which are not watched. */
  readonly #owner = newId(0)
  /** When the last successful renewal was sent, by the monotonic clock in milliseconds. */
  #renewedAt = 0
  #renewal: NodeJS.Timeout | null = null
  #isStored = false

  /** `isOwn`: the operation opens its own transactions, and its answer is stored after they have committed. */
  constructor(key: string, hash: RequestHash, isOwn = false) {
    this.key = key
    this.#hash = hash
    this.#isMarked = isOwn
  }

  /** Returns null if the claim was acquired, the stored answer, or `running` if the first request still runs. */
  async take(ctx: Context): Promise<Answer | 'running' | null> {
    const found = await this.#takeUnlessClaimed(ctx, null)
    if (!found || !('claimedAt' in found)) return found
    const { claimedAt, isOverdue } = found
    if (isOverdue && (await this.#isGone(ctx, claimedAt))) {
      const taken = await this.#takeUnlessClaimed(ctx, claimedAt)
      if (!taken || !('claimedAt' in taken)) return taken
      return taken.claimedAt === claimedAt ? buildLostAnswer() : 'running'
    }
    if (!isOverdue) return 'running'
    const after = await this.#findEarlierAnswer(ctx)
    return 'claimedAt' in after ? 'running' : after
  }

  /** Whether the process of the claim is gone. Watches the claim for a while: it must not be renewed, nor end. */
  async #isGone(ctx: Context, claimedAt: string): Promise<boolean> {
    const beganAt = performance.now()
    for (let lookedAt = beganAt; lookedAt - beganAt < watchMs; ) {
      await sleep(watchEveryMs)
      const [row] = await findStoredAnswer(ctx, { key: this.key })
      const now = performance.now()
      if (row?.claimed_at !== claimedAt || row.status !== null || now - lookedAt > watchGapMs) return false
      lookedAt = now
    }
    return true
  }

  /** `goneSince`: the time of another claim whose process is gone. */
  async #takeUnlessClaimed(ctx: Context, goneSince: string | null): Promise<Answer | OtherClaim | null> {
    const now = ctx.now()
    const askedAt = performance.now()
    const claimed = await insertClaim(ctx, {
      ...this.#claimKey,
      ...this.#hash,
      goneSince,
      now: now.toISOString(),
      forgottenBefore: new Date(now.getTime() - retentionMs).toISOString(),
    })
    if (claimed.length === 0) return this.#findEarlierAnswer(ctx)
    this.#renewedAt = askedAt
    this.#scheduleRenewal(ctx)
    return null
  }

  async #findEarlierAnswer(ctx: Context): Promise<Answer | OtherClaim> {
    const [row] = await findStoredAnswer(ctx, { key: this.key })
    if (!row)
      throw refuse('conflict', 'The first request with this Idempotency-Key failed just now: send it again')
    if (row.request_hash !== this.#hash.meaning && row.request_hash !== this.#hash.text) {
      throw refuse('conflict', 'This Idempotency-Key was used for another request: use a new one')
    }
    if (row.status === null) {
      if (row.is_lost) return buildLostAnswer()
      return { claimedAt: row.claimed_at, isOverdue: row.is_overdue }
    }
    return {
      status: row.status,
      body: row.body ?? '',
      headers: (row.headers ?? {}) as Record<string, string>,
    }
  }

  /**
   * Stores the answer, as the last statement of the operation's transaction; throws if another request has taken over
   * the key.
   */
  async storeAnswerLast(ctx: Context, answer: Answer): Promise<void> {
    await this.#failIfLost(storeAnswerOrFail(ctx, this.#stored(answer)))
    this.#isStored = true
  }

  /**
   * The last statement of a transaction that does not store the answer: from then on the request is never run again.
   * It fails if another request has taken over the key, or if the database lost the claim in a crash.
   */
  closingStatement(tx: Context): (() => Promise<void>) | null {
    return this.#isMarked ? () => this.#failIfLost(recordWritten(tx, this.#claimKey)) : null
  }

  markResumable(): void {
    this.#isMarked = false
  }

  /** Stores the answer outside any transaction. False if another request has taken over the key. */
  async storeAnswer(ctx: Context, answer: Answer): Promise<boolean> {
    const rows = await storeAnswerRow(ctx, this.#stored(answer))
    this.#isStored = rows.length > 0
    return this.#isStored
  }

  /** Stores the answer; replaces an answer that a transaction of this request has stored. */
  async overwriteAnswer(ctx: Context, answer: Answer): Promise<boolean> {
    const rows = await overwriteStoredAnswer(ctx, this.#stored(answer))
    this.#isStored = rows.length > 0
    return this.#isStored
  }

  /**
   * Releases the key, so that a request that failed on our side may be sent again. If the handler failed unexpectedly
   * (not `isExpected`) after a commit, the key is not released: it stores an answer that says the result was lost.
   */
  async release(ctx: Context, isExpected = true): Promise<void> {
    const deleted = await deleteClaim(ctx, { ...this.#claimKey, isExpected })
    if (deleted.length === 0 && !isExpected) await this.storeAnswer(ctx, buildLostAnswer())
  }

  /** Called before a commit: renews a claim that was not renewed for `trustedForMs`; throws if it is lost. */
  async confirm(ctx: Context): Promise<void> {
    if (this.#isStored || performance.now() - this.#renewedAt < trustedForMs) return
    if (!(await this.#renew(ctx))) throw claimLostError()
  }

  /** Stops the renewal. */
  stopRenewal(): void {
    if (this.#renewal) clearTimeout(this.#renewal)
    this.#renewal = null
  }

  #scheduleRenewal(ctx: Context): void {
    this.#renewal = setTimeout(() => {
      this.#renew(ctx)
        // Not fatal: without renewals, `confirm` queries before each commit.
        .catch((error) => {
          ctx.log.warn({ err: error }, 'idempotency claim renewal failed')
          return true
        })
        .then((holds) => {
          if (holds && this.#renewal) this.#scheduleRenewal(ctx)
        })
    }, renewEveryMs).unref()
  }

  async #renew(ctx: Context): Promise<boolean> {
    const askedAt = performance.now()
    const renewed = await renewClaim(ctx, this.#claimKey)
    if (renewed.length > 0) this.#renewedAt = askedAt
    return renewed.length > 0
  }

  async #failIfLost(asked: Promise<unknown>): Promise<void> {
    try {
      await asked
    } catch (error) {
      throw sqlState(error) === divisionByZero ? claimLostError() : error
    }
  }

  get #claimKey(): ClaimKey {
    return { key: this.key, owner: this.#owner }
  }

  #stored({ status, body, headers }: Answer): ClaimKey & StoredText {
    return { ...this.#claimKey, status, body, headers: JSON.stringify(headers) }
  }
}

/** Another request's claim. */
interface OtherClaim {
  /** When it was claimed or last renewed, with microseconds. */
  claimedAt: string
  isOverdue: boolean
}

export const claimLostError = (): ApiError =>
  refuse(
    'conflict',
    'This request was held up until another with its Idempotency-Key took over: send it again for the answer',
  )

const buildLostAnswer = (): Answer => ({
  status: 409,
  body: refuse(
    'conflict',
    'What this Idempotency-Key was sent with was carried out, at least in part, and its answer was lost: read what it changed before you send it with another key',
  ).body(),
  headers: {},
})

const waitsMs = 10_000
const firstLookMs = 25
const looksAtMostEveryMs = 400

/**
 * Runs a request that is not an operation once per key, outside any transaction. A repeated request waits for the
 * answer of the first: usually a person pressed a button twice. Only answers with a status below 400 are stored: a
 * refused request may be corrected and sent again. If a second run would give another answer, the work's own
 * transaction stores the answer (`storeAnswerLast`).
 */
export async function runOnce(
  ctx: Context,
  claim: Claim,
  run: (ctx: Context) => Promise<Answer>,
): Promise<{ answer: Answer; isReplayed: boolean }> {
  const stored = await claimOrAwaitAnswer(ctx, claim)
  if (stored) return { answer: stored, isReplayed: true }
  const claimed = ctx.withClaim(claim)
  try {
    const answer = await run(claimed)
    claim.stopRenewal()
    if (answer.status >= 400) await claim.release(claimed)
    else if (!(await claim.overwriteAnswer(claimed, answer))) throw claimLostError()
    return { answer, isReplayed: false }
  } catch (error) {
    claim.stopRenewal()
    await claim.release(claimed)
    throw error
  }
}

async function claimOrAwaitAnswer(ctx: Context, claim: Claim): Promise<Answer | null> {
  const askedAt = performance.now()
  for (let pause = firstLookMs; ; pause = Math.min(pause * 2, looksAtMostEveryMs)) {
    const stored = await claim.take(ctx)
    if (stored !== 'running') return stored
    if (performance.now() - askedAt > waitsMs) throw stillRunningError()
    await sleep(pause)
  }
}

/** Deletes the keys of all stores that are older than 24 hours. */
export async function sweepIdempotencyKeys(system: Context['system'], now: Date): Promise<void> {
  await sql`delete from idempotency_keys where created_at < ${new Date(now.getTime() - retentionMs)}`.execute(
    system,
  )
}
