/**
 * What is written on the coordinator is seen before what the same transaction wrote on a worker: Citus ends the second of
 * its two phases afterwards. Whoever follows a row of the one to rows of the other (a job to its store's) waits for it by a
 * lock of that row's own, which the transaction takes beside the store's rows and which ends as they do, even where the
 * coordinator died in between.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { CompiledQuery, type Transaction } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { commitTogether } from './commits.ts'

const announcing = 'select pg_advisory_xact_lock_shared(hashtextextended($2, 0)) from stores where id = $1'
const looking =
  'select pg_try_advisory_xact_lock(hashtextextended($2, 0)) as is_settled from stores where id = $1'
const looksEveryMs = 50

/** Within the transaction that writes the store's rows, of what is written beside them on the coordinator. */
export async function announce(transaction: Transaction<Tables>, storeId: string, id: string): Promise<void> {
  await commitTogether(transaction)
  await transaction.executeQuery(CompiledQuery.raw(announcing, [storeId, id]))
}

/**
 * Once all is there that was announced of it; throws where the signal is aborted before. Looks instead of waiting in the
 * database, where it would hold up who shares the connection. Elsewhere than on a cluster nothing is asked.
 */
export async function settled(
  database: Database,
  storeId: string,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await database.isDistributed())) return
  for (;;) {
    signal.throwIfAborted()
    const [row] = await database.query<{ is_settled: boolean }>(looking, [storeId, id])
    // A store that is gone took its rows with it.
    if (!row || row.is_settled) return
    await wait(looksEveryMs)
  }
}
