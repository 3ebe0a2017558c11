// biome-ignore-all lint/plugin/clock: instances agree on a lease by the clock of their database: a sandbox moves ours
/**
 * The statements on `idempotency_keys` (`idempotency.ts`): claim a key or take over an expired lease, renew, store the
 * answer, delete. Two of them fail on purpose if the claim is lost, by a division by zero, so that the commit fails.
 */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { prepared } from '#runtime/database/query'
import { minuteMs } from '#runtime/durations'

/** A claim without a renewal for this long belongs to a process that died or is suspended. */
const leaseMs = minuteMs
/** A claim that is not renewed for this long is watched. */
const overdueMs = 4_000

export interface RequestHash {
  /** Hash of the meaning: the order of fields and white space do not matter. */
  meaning: string
  /** Hash of the exact text, which releases up to 1.0.0 stored. */
  text: string
}

export interface ClaimKey {
  key: string
  owner: string
}

/**
 * The database's clock, which all instances share. The clock of a process can be moved in a sandbox, and a time that it
 * read before it was suspended would be outdated.
 */
const leaseStart = sql<Date>`clock_timestamp()`
/**
 * A difference of two columns rather than a timestamp plus an interval, whose result depends on the session's time
 * zone: Citus does not send such expressions to its nodes.
 */
const isLeaseOver = sql<boolean>`excluded.claimed_at - idempotency_keys.claimed_at > ${sql.lit(`${leaseMs} milliseconds`)}::interval`

/**
 * The claim's row is not durable at first: a crash of the database may lose it. The commit of the request's transaction
 * makes it durable. Without that commit nothing was written, and the request may be sent again.
 */
export const insertClaim = prepared(
  (
    db,
    values: ClaimKey & RequestHash & { now: string; forgottenBefore: string; goneSince: string | null },
  ) => {
    const isGone = sql<boolean>`idempotency_keys.claimed_at = ${values.goneSince}::timestamptz`
    const claim = {
      request_hash: values.meaning,
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
                // Moving the clock forward must not release a running claim.
                eb.or([eb('idempotency_keys.status', 'is not', null), isLeaseOver]),
              ]),
              eb.and([
                eb('idempotency_keys.status', 'is', null),
                eb('idempotency_keys.has_written', '=', false),
                eb.or([isLeaseOver, isGone]),
                eb('idempotency_keys.request_hash', 'in', [values.meaning, values.text]),
              ]),
            ]),
          ),
      )
      .returning('key')
  },
  { plan: 'noted' },
)

/** Whether the request's process died after a commit and before the answer was stored. */
const isLost = sql<boolean>`has_written and statement_timestamp() - claimed_at > ${sql.lit(`${leaseMs} milliseconds`)}::interval`

const isOverdue = sql<boolean>`statement_timestamp() - claimed_at > ${sql.lit(`${overdueMs} milliseconds`)}::interval
  and substr(owner::text, 15, 1) = '7'`

export const findStoredAnswer = prepared((db, values: { key: string }) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'body', 'headers', isLost.as('is_lost'), isOverdue.as('is_overdue')])
    .select(sql<string>`claimed_at::text`.as('claimed_at'))
    .where('key', '=', values.key),
)

const overwriteAnswerQuery = (db: Kysely<TenantTables>, values: ClaimKey & StoredText) =>
  db
    .updateTable('idempotency_keys')
    .set({ status: values.status, body: values.body, headers: values.headers })
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .returning('key')
export const overwriteStoredAnswer = prepared(overwriteAnswerQuery)

const storeAnswerQuery = (db: Kysely<TenantTables>, values: ClaimKey & StoredText) =>
  overwriteAnswerQuery(db, values).where('status', 'is', null)
export const storeAnswerRow = prepared(storeAnswerQuery)

/** Sent together with the commit: if the claim is lost, the statement itself must fail, by a division by zero. */
export const storeAnswerOrFail = prepared((db, values: ClaimKey & StoredText) =>
  db
    .with('kept', () => storeAnswerQuery(db, values))
    .selectFrom('kept')
    .select(sql<number>`1 / count(*)`.as('kept')),
)
export const recordWritten = prepared((db, values: ClaimKey) =>
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
export const divisionByZero = '22012'

export const renewClaim = prepared((db, values: ClaimKey) =>
  db
    .updateTable('idempotency_keys')
    // `clock_timestamp()` is not allowed here: a cluster needs a value that is stable within the statement. Both give
    // the same time, since this statement waits for no lock.
    .set({ claimed_at: sql<Date>`statement_timestamp()` })
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .where('status', 'is', null)
    .returning('key'),
)

export const deleteClaim = prepared((db, values: ClaimKey & { isExpected: boolean }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('key', '=', values.key)
    .where('owner', '=', values.owner)
    .where('status', 'is', null)
    .where((eb) => eb.or([eb('has_written', '=', false), sql<boolean>`${values.isExpected}::boolean`]))
    .returning('key'),
)

export interface StoredText {
  status: number
  body: string
  /** An object of headers as JSON. */
  headers: string
}
