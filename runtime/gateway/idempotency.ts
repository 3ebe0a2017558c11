// biome-ignore-all lint/plugin/clock: instances agree on a lease by the clock of their database: a sandbox moves ours
/** `Idempotency-Key`: one effect and one answer for a write, however often it is sent within 24 hours. */

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs, minuteMs } from '#runtime/durations'
import { type Refusal, refuse, sqlState } from '#runtime/errors'
import { sha256 } from '#runtime/values/ids'
import type { Answer } from './answers.ts'

const keptMs = dayMs
/** A claim that was not renewed for this long belongs to a process that died, or to one that stands still. */
const leaseMs = minuteMs
const renewEveryMs = 20_000
/** Up to here a claim is known to hold without asking; what is left of the lease is for a commit to arrive. */
const sureForMs = 45_000
const visible = /^[\x21-\x7e]{1,255}$/

/** The key of a request, or null. Refuses one of the wrong form. */
export function idempotencyKey(header: string | undefined, atLeast = 1): string | null {
  if (header === undefined) return null
  if (!visible.test(header) || header.length < atLeast) {
    throw refuse('bad_request', `Idempotency-Key: must have ${atLeast} to 255 visible characters`)
  }
  return header
}

/** `condition`: with another one it is another request, whose answer is not that of before. */
export const requestHash = (method: string, address: string, body: string, condition?: string): string =>
  sha256(`${method}\n${address}\n${body}${condition === undefined ? '' : `\n${condition}`}`)

export const stillRunning = (): Refusal =>
  refuse('conflict', 'The first request with this Idempotency-Key is still running')

/**
 * What one request holds of its key. It has an owner, a lease by the database's clock that is renewed while the
 * request runs, and nothing holds without it: who was held up for so long that another took over keeps no answer, and
 * its transaction fails.
 */
export class Claim {
  readonly key: string
  readonly #hash: string
  /** Its transactions say that they have committed: where its answer is lost it is not run again. */
  #isMarked: boolean
  readonly #owner = randomUUID()
  /** On the machine's running clock. */
  #renewedAt = 0
  #renewal: NodeJS.Timeout | null = null
  #isKept = false

  /** `isOwn`: it is of an operation with transactions of its own, whose answer is kept after they have committed. */
  constructor(key: string, hash: string, isOwn = false) {
    this.key = key
    this.#hash = hash
    this.#isMarked = isOwn
  }

  /** Null when the key is ours to run, otherwise the stored answer of who ran before, or that it still runs. */
  async take(ctx: Context): Promise<Answer | 'running' | null> {
    const now = ctx.now()
    const askedAt = performance.now()
    const claimed = await taken(ctx, {
      ...this.#named,
      hash: this.#hash,
      now: now.toISOString(),
      forgottenBefore: new Date(now.getTime() - keptMs).toISOString(),
    })
    if (claimed.length === 0) return this.#before(ctx)
    this.#renewedAt = askedAt
    this.#renewLater(ctx)
    return null
  }

  async #before(ctx: Context): Promise<Answer | 'running'> {
    const [row] = await before(ctx, { key: this.key })
    if (!row)
      throw refuse('conflict', 'The first request with this Idempotency-Key failed just now: send it again')
    if (row.request_hash !== this.#hash) {
      throw refuse('conflict', 'This Idempotency-Key was used for another request: use a new one')
    }
    if (row.status === null) return row.is_lost ? lostAnswer() : 'running'
    return {
      status: row.status,
      body: row.body ?? '',
      headers: (row.headers ?? {}) as Record<string, string>,
    }
  }

  /** Keeps the answer, as the last statement of the operation's transaction; throws where the key is another's now. */
  async keepAtLast(ctx: Context, answer: Answer): Promise<void> {
    await this.#asOurs(keptOrFailed(ctx, this.#stored(answer)))
    this.#isKept = true
  }

  /**
   * What a transaction that does not keep the answer ends with: from then on the request is never run again. Fails where
   * the key is another's, or a crash of the database forgot the claim.
   */
  closing(tx: Context): (() => Promise<void>) | null {
    return this.#isMarked ? () => this.#asOurs(noteWritten(tx, this.#named)) : null
  }

  resumes(): void {
    this.#isMarked = false
  }

  /** Keeps the answer outside of any transaction. False: the key is another's now. */
  async keep(ctx: Context, answer: Answer): Promise<boolean> {
    const rows = await kept(ctx, this.#stored(answer))
    this.#isKept = rows.length > 0
    return this.#isKept
  }

  /** The same, also in the place of one that a transaction of this request has kept. */
  async keepAnew(ctx: Context, answer: Answer): Promise<boolean> {
    const rows = await keptAnew(ctx, this.#stored(answer))
    this.#isKept = rows.length > 0
    return this.#isKept
  }

  /**
   * Gives the key back: what failed on our side may be sent again. Where the handler did not end by itself (`isSaid`) and
   * something of it holds, the key answers that instead.
   */
  async giveBack(ctx: Context, isSaid = true): Promise<void> {
    const given = await givenBack(ctx, { ...this.#named, isSaid })
    if (given.length === 0 && !isSaid) await this.keep(ctx, lostAnswer())
  }

  /** Before a transaction commits: asks, and renews, where it is not sure any more that the key is ours. */
  async confirm(ctx: Context): Promise<void> {
    if (this.#isKept || performance.now() - this.#renewedAt < sureForMs) return
    if (!(await this.#renew(ctx))) throw lost()
  }

  /** Nothing is renewed from here on. */
  end(): void {
    if (this.#renewal) clearTimeout(this.#renewal)
    this.#renewal = null
  }

  #renewLater(ctx: Context): void {
    this.#renewal = setTimeout(() => {
      this.#renew(ctx)
        .then((holds) => {
          if (holds && this.#renewal) this.#renewLater(ctx)
        })
        // Without a renewal every commit asks: see confirm.
        .catch((error) => ctx.log.warn({ err: error }, 'an idempotency key was not renewed'))
    }, renewEveryMs).unref()
  }

  async #renew(ctx: Context): Promise<boolean> {
    const askedAt = performance.now()
    const renewed = await renewal(ctx, this.#named)
    if (renewed.length > 0) this.#renewedAt = askedAt
    return renewed.length > 0
  }

  async #asOurs(asked: Promise<unknown>): Promise<void> {
    try {
      await asked
    } catch (error) {
      throw sqlState(error) === divisionByZero ? lost() : error
    }
  }

  get #named(): Named {
    return { key: this.key, owner: this.#owner }
  }

  #stored({ status, body, headers }: Answer): Named & StoredText {
    return { ...this.#named, status, body, headers: JSON.stringify(headers) }
  }
}

interface Named {
  key: string
  owner: string
}

/** Instances agree on the database's clock; ours may be moved, and a process that dies has none. */
const leaseStart = sql<Date>`clock_timestamp()`
/** Compared by a difference, which a cluster takes too: what it gives to its nodes must not depend on their settings. */
const isLeaseOver = sql<boolean>`excluded.claimed_at - idempotency_keys.claimed_at > ${sql.lit(`${leaseMs} milliseconds`)}::interval`

/**
 * A crash of the database may forget it. What the request commits takes it along; what it had not committed is lost too, and
 * it may be sent again, as after the lease.
 */
const taken = prepared(
  (db, values: Named & { hash: string; now: string; forgottenBefore: string }) => {
    const claim = {
      request_hash: values.hash,
      owner: values.owner,
      claimed_at: leaseStart,
      created_at: values.now,
    }
    return db
      .insertInto('idempotency_keys')
      .values({ key: values.key, ...claim })
      .onConflict((conflict) =>
        conflict
          .columns(['store_id', 'key'])
          .doUpdateSet({
            ...{ ...claim, claimed_at: sql<Date>`excluded.claimed_at` },
            ...{ status: null, body: null, headers: null, has_written: false },
          })
          .where((eb) =>
            eb.or([
              eb.and([
                eb('idempotency_keys.created_at', '<=', sql<Date>`${values.forgottenBefore}::timestamptz`),
                // A clock that was moved leaves what runs alone.
                eb.or([eb('idempotency_keys.status', 'is not', null), isLeaseOver]),
              ]),
              eb.and([
                eb('idempotency_keys.status', 'is', null),
                eb('idempotency_keys.has_written', '=', false),
                isLeaseOver,
                eb('idempotency_keys.request_hash', '=', values.hash),
              ]),
            ]),
          ),
      )
      .returning('key')
  },
  { plan: 'noted' },
)

/** Its process died after a commit, before the answer was kept. */
const isLost = sql<boolean>`has_written and statement_timestamp() - claimed_at > ${sql.lit(`${leaseMs} milliseconds`)}::interval`

const before = prepared((db, values: { key: string }) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'body', 'headers', isLost.as('is_lost')])
    .where('key', '=', values.key),
)

const keepingAnew = (db: Kysely<TenantTables>, values: Named & StoredText) =>
  db
    .updateTable('idempotency_keys')
    .set({ status: values.status, body: values.body, headers: values.headers })
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .returning('key')
const keptAnew = prepared(keepingAnew)

const keeping = (db: Kysely<TenantTables>, values: Named & StoredText) =>
  keepingAnew(db, values).where('status', 'is', null)
const kept = prepared(keeping)

/** Its commit is on the way already: where there is no such row the statement itself has to fail, and does so by 1 / 0. */
const keptOrFailed = prepared((db, values: Named & StoredText) =>
  db
    .with('kept', () => keeping(db, values))
    .selectFrom('kept')
    .select(sql<number>`1 / count(*)`.as('kept')),
)
const noteWritten = prepared((db, values: Named) =>
  db
    .with('noted', (within) =>
      within
        .updateTable('idempotency_keys')
        .set({ has_written: true })
        .where('key', '=', values.key)
        .where('owner', '=', values.owner)
        .where('status', 'is', null)
        .returning('key'),
    )
    .selectFrom('noted')
    .select(sql<number>`1 / count(*)`.as('noted')),
)
const divisionByZero = '22012'

const renewal = prepared((db, values: Named) =>
  db
    .updateTable('idempotency_keys')
    // The same, of a statement that waits for nobody: what a cluster updates by must not change while it runs.
    .set({ claimed_at: sql<Date>`statement_timestamp()` })
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .where('status', 'is', null)
    .returning('key'),
)

const givenBack = prepared((db, values: Named & { isSaid: boolean }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .where('status', 'is', null)
    .where((eb) => eb.or([eb('has_written', '=', false), sql<boolean>`${values.isSaid}::boolean`]))
    .returning('key'),
)

interface StoredText {
  status: number
  body: string
  /** JSON. */
  headers: string
}

export const lost = (): Refusal =>
  refuse(
    'conflict',
    'This request was held up until another with its Idempotency-Key took over: send it again for the answer',
  )

const lostAnswer = (): Answer => ({
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
 * Runs once for each key what is no operation, outside any transaction. Who comes while the first still runs waits for
 * its answer: behind it is a person who pressed twice. Only what had an effect is kept (below 400): what was refused
 * may be mended and sent again. What would be answered otherwise, once it is done, is kept by the transaction that does it
 * (`keepAtLast`).
 */
export async function once(
  ctx: Context,
  claim: Claim,
  run: (ctx: Context) => Promise<Answer>,
): Promise<{ answer: Answer; isReplayed: boolean }> {
  const stored = await takenOrAnswered(ctx, claim)
  if (stored) return { answer: stored, isReplayed: true }
  const held = ctx.holding(claim)
  try {
    const answer = await run(held)
    claim.end()
    if (answer.status >= 400) await claim.giveBack(held)
    else if (!(await claim.keepAnew(held, answer))) throw lost()
    return { answer, isReplayed: false }
  } catch (error) {
    claim.end()
    await claim.giveBack(held)
    throw error
  }
}

async function takenOrAnswered(ctx: Context, claim: Claim): Promise<Answer | null> {
  const askedAt = performance.now()
  for (let pause = firstLookMs; ; pause = Math.min(pause * 2, looksAtMostEveryMs)) {
    const stored = await claim.take(ctx)
    if (stored !== 'running') return stored
    if (performance.now() - askedAt > waitsMs) throw stillRunning()
    await sleep(pause)
  }
}

/** Deletes what is older than 24 hours, of all stores. */
export async function sweepIdempotencyKeys(system: Context['system'], now: Date): Promise<void> {
  await sql`delete from idempotency_keys where created_at < ${new Date(now.getTime() - keptMs)}`.execute(
    system,
  )
}
