/** Opens the database of the settings for a command, also while a server uses the embedded database. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import type { Database } from '#db/database'
import { findAppliedMigrations } from '#db/migrate'
import { SettingsError } from '#db/settings-error'
import { machineClock } from '#runtime/clock'
import type { Services } from '#runtime/context'
import { openApp, openDatabase, readClockOffset } from '#runtime/server/app'
import { readSettings, resolveDataDir, type Settings } from '#runtime/server/settings'
import { migrateDatabase, requireSecretKey, withConnectMessages } from '#runtime/server/startup-errors'

export interface Opened {
  database: Database
  /** The current time by the clock that servers on this database use. */
  now: Date
  /** Resolves once no server uses older cached data: awaited before a change of permissions is reported as done. */
  waitForPropagation(): Promise<void>
}

/** Opens and migrates the database that the environment names, and closes it at the end. Does not create one. */
export const withDatabase = <T>(env: NodeJS.ProcessEnv, run: (opened: Opened) => Promise<T>): Promise<T> =>
  withOpened(env, false, async (opened) => run(opened))

/**
 * Like `withDatabase`, but with all services of a server: adapters of providers, the job queue. `makes`: whether to
 * create a missing database.
 */
export const withServices = <T>(
  env: NodeJS.ProcessEnv,
  run: (services: Services, opened: Opened) => Promise<T>,
  { makes = false } = {},
): Promise<T> =>
  withOpened(env, makes, async (opened, shared) => {
    const settings = await readSettings(env)
    await requireSecretKey(settings, opened.database)
    const app = await openApp({
      settings,
      log: pino({ level: 'error' }, pino.destination(2)),
      database: opened.database,
      shared,
      supervise: false,
    })
    try {
      return await run(app.services, opened)
    } finally {
      await app.close()
    }
  })

/** Opens the database without migrating it: servers of an older release may be running on it. */
export async function withUnmigratedDatabase<T>(
  settings: Settings,
  run: (database: Database) => Promise<T>,
): Promise<T> {
  const { database, close } = await openDatabase(settings)
  try {
    const migrations = await withConnectMessages(settings, () => findAppliedMigrations(database))
    if (migrations.size > 0) return await run(database)
    throw new SettingsError('DATABASE_URL: there is nothing of ours in this database: look at its name')
  } finally {
    await close()
  }
}

async function withOpened<T>(
  env: NodeJS.ProcessEnv,
  makes: boolean,
  run: (opened: Opened, shared: boolean) => Promise<T>,
): Promise<T> {
  if (!makes) requireEmbedded(env)
  const settings = await readSettings(env)
  const { database, shared, close } = await openDatabase(settings)
  try {
    await migrateDatabase(settings, database.longRunning)
    const now = machineClock(await readClockOffset(database, settings)).now()
    // If no other process uses the database, there is no other cache to wait for.
    const waitForPropagation = async (): Promise<void> => {
      if (shared) await wait(settings.keyLeaseMs + 20)
    }
    return await run({ database, now, waitForPropagation }, shared)
  } finally {
    await close()
  }
}

/** Throws if there is no embedded database in `DATA_DIR`, instead of creating an empty one in a mistyped folder. */
export function requireEmbedded(env: NodeJS.ProcessEnv): void {
  if (env.DATABASE_URL) return
  const folder = resolveDataDir(env)
  if (existsSync(join(folder, 'db'))) return
  throw new SettingsError(
    `DATA_DIR: there is no database in ${folder}: name the folder that the server has, or its DATABASE_URL; npm start and npm run migrate make a new one`,
  )
}
