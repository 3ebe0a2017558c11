/** The database of the settings for a command: a server, or the embedded one, also while a server runs on it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import type { Database } from '#db/database'
import { migrationsRun } from '#db/migrate'
import { SettingsError } from '#db/settings-error'
import { machineClock } from '#runtime/clock'
import type { Services } from '#runtime/context'
import { openApp, openDatabase, savedOffset } from '#runtime/server/app'
import { migrated, reached } from '#runtime/server/mendable'
import { dataDirOf, readSettings, type Settings } from '#runtime/server/settings'

export interface Opened {
  database: Database
  /** Of the clock that the servers on this database go by. */
  now: Date
  /** Done once no server acts on what it knew before: waited for before a change of who may do what is answered. */
  settled(): Promise<void>
}

/** Opens and migrates the database that the environment names, and closes it at the end. Makes none. */
export const withDatabase = <T>(env: NodeJS.ProcessEnv, run: (opened: Opened) => Promise<T>): Promise<T> =>
  opening(env, false, async (opened) => run(opened))

/** The same with everything that a server has: adapters of providers, the job queue. `makes`: the database, where there is none. */
export const withServices = <T>(
  env: NodeJS.ProcessEnv,
  run: (services: Services, opened: Opened) => Promise<T>,
  { makes = false } = {},
): Promise<T> =>
  opening(env, makes, async (opened, shared) => {
    const app = await openApp({
      settings: await readSettings(env),
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

/** As it is, whichever version made it: it may be of one before an upgrade, and servers of that may run. */
export async function withDatabaseAsItIs<T>(
  settings: Settings,
  run: (database: Database) => Promise<T>,
): Promise<T> {
  const { database, close } = await openDatabase(settings)
  try {
    const migrations = await reached(settings, () => migrationsRun(database))
    if (migrations.size > 0) return await run(database)
    throw new SettingsError('DATABASE_URL: there is nothing of ours in this database: look at its name')
  } finally {
    await close()
  }
}

async function opening<T>(
  env: NodeJS.ProcessEnv,
  makes: boolean,
  run: (opened: Opened, shared: boolean) => Promise<T>,
): Promise<T> {
  if (!makes) requireEmbedded(env)
  const settings = await readSettings(env)
  const { database, shared, close } = await openDatabase(settings)
  try {
    await migrated(settings, database.patient)
    const now = machineClock(await savedOffset(database, settings)).now()
    // Nobody else is there to know anything where this process has the database to itself.
    const settled = async (): Promise<void> => {
      if (shared) await wait(settings.keyLeaseMs + 20)
    }
    return await run({ database, now, settled }, shared)
  } finally {
    await close()
  }
}

/** A mistyped folder is told, and no database made in it that has nothing to show. */
export function requireEmbedded(env: NodeJS.ProcessEnv): void {
  if (env.DATABASE_URL) return
  const folder = dataDirOf(env)
  if (existsSync(join(folder, 'db'))) return
  throw new SettingsError(
    `DATA_DIR: there is no database in ${folder}: name the folder that the server has, or its DATABASE_URL; npm start and npm run migrate make a new one`,
  )
}
