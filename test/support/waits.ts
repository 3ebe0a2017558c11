/** Waits for sessions that are blocked by locks, on a database with several sessions. */
import { expect } from 'vitest'
import type { TestApp } from './app.ts'

/**
 * Resolves once that many sessions wait for a lock; on the embedded database, other sessions wait for a transaction
 * anyway.
 */
export async function untilWaiting(app: TestApp, sessions = 1): Promise<void> {
  if (app.database.kind === 'pglite') return
  const waiting = () =>
    app.database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    )
  await expect.poll(async () => (await waiting()).length).toBe(sessions)
}
