/** Decides whether a database takes reads and writes, for readiness and for the start. */
import type { Database } from './database.ts'
import { isMigrated } from './migrate.ts'

/** Why the database takes no writes, in one sentence; null if it does. */
export async function findReadOnlyReason(database: Database): Promise<string | null> {
  const [state] = await database.query<{ isStandby: boolean; isReadOnly: boolean }>(
    `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
    [],
  )
  if (state!.isStandby) return 'the database is a standby, which takes no writes'
  if (state!.isReadOnly) return 'the database takes no writes: default_transaction_read_only is on'
  return null
}

/** Why the database cannot be used now, in one sentence; null if it can. */
export async function findUnreadyReason(database: Database): Promise<string | null> {
  const reason = await findReadOnlyReason(database)
  if (reason !== null) return reason
  if (database.load().isDiskFull) return 'the disk of the database is full'
  return (await isMigrated(database)) ? null : 'migrations are missing'
}
