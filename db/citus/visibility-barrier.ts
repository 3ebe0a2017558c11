/**
 * Visibility barrier. A row on the coordinator, such as a job, becomes visible before the rows that the same
 * transaction wrote on a worker, since Citus ends the second phase of its commit later. So the transaction also
 * acquires a lock on the worker with the store's rows, named after the job. The lock is released when these rows become
 * visible, even if the coordinator crashes in between. A worker process that runs the job waits for that.
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

/**
 * Acquires the lock in the transaction that writes the store's rows. `id`: the row that it writes on the coordinator.
 */
export async function acquireBarrier(
  transaction: Transaction<Tables>,
  storeId: string,
  id: string,
): Promise<void> {
  await forceDistributedCommit(transaction)
  await transaction.executeQuery(CompiledQuery.raw(acquireText, [storeId, id]))
}

/**
 * Resolves once the rows of the transaction are visible; throws if the signal is aborted before. Polls, since waiting
 * in the database would block the shared connection. Without a cluster nothing is queried.
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
    // No row means that the store was deleted, with all its rows.
    if (!row || row.is_settled) return
    await wait(pollEveryMs)
  }
}
