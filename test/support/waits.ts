/** Who waits for whom, on a database that several sessions have. */
import { expect } from 'vitest'
import type { TestApp } from './app.ts'

/** Until so many wait for a lock; on the embedded database, inside a transaction, whoever comes waits anyway. */
export async function untilWaiting(app: TestApp, sessions = 1): Promise<void> {
  if (app.database.kind === 'pglite') return
  const waiting = () =>
    app.database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    )
  await expect.poll(async () => (await waiting()).length).toBe(sessions)
}
