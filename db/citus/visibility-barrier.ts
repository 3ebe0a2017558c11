/**
 * Visibility barrier. A row on the coordinator becomes visible before rows that the same transaction wrote on a
 * worker, since Citus ends the second phase of its commit later. A reader that follows the one to the others (a job to
 * its store's rows) waits for a lock of that row's own. The transaction takes it next to the store's rows, and it is
 * released with them, even if the coordinator crashed in between.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { CompiledQuery, type Transaction } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { forceDistributedCommit } from './commits.ts'

const acquireText = 'select pg_advisory_xact_lock_shared(hashtextextended($2, 0)) from stores where id = $1'
const checkText =
  'select pg_try_advisory_xact_lock(hashtextextended($2, 0)) as is_settled from stores where id = $1'
const pollEveryMs = 50

/** Called within the transaction that writes the store's rows, for a row that it writes on the coordinator. */
export async function acquireBarrier(
  transaction: Transaction<Tables>,
  storeId: string,
  id: string,
): Promise<void> {
  await forceDistributedCommit(transaction)
  await transaction.executeQuery(CompiledQuery.raw(acquireText, [storeId, id]))
}

/**
 * Resolves once everything behind the barrier is visible; throws if the signal is aborted before. Polls instead of
 * waiting in the database, which would block the shared connection. Without a cluster nothing is queried.
 */
export async function waitUntilVisible(
  database: Database,
  storeId: string,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await database.isDistributed())) return
  for (;;) {
    signal.throwIfAborted()
    const [row] = await database.query<{ is_settled: boolean }>(checkText, [storeId, id])
    // A store that is gone took its rows with it.
    if (!row || row.is_settled) return
    await wait(pollEveryMs)
  }
}
