/** The database of the settings for a command: a server, or the embedded one, also while a server runs on it. */
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { machineClock } from '#runtime/clock'
import type { Services } from '#runtime/context'
import { openApp, openDatabase, savedOffset } from '#runtime/server/app'
import { readSettings } from '#runtime/server/settings'

export interface Opened {
  database: Database
  /** Of the clock that the servers on this database go by. */
  now: Date
  /** Done once no server acts on what it knew before: waited for before a change of who may do what is answered. */
  settled(): Promise<void>
}

/** Opens and migrates the database that the environment names, and closes it at the end. */
export const withDatabase = <T>(env: NodeJS.ProcessEnv, run: (opened: Opened) => Promise<T>): Promise<T> =>
  opening(env, async (opened) => run(opened))

/** The same with everything that a server has: adapters of providers, the job queue. */
export const withServices = <T>(
  env: NodeJS.ProcessEnv,
  run: (services: Services, opened: Opened) => Promise<T>,
): Promise<T> =>
  opening(env, async (opened, shared) => {
    const app = await openApp({
      settings: readSettings(env),
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

async function opening<T>(
  env: NodeJS.ProcessEnv,
  run: (opened: Opened, shared: boolean) => Promise<T>,
): Promise<T> {
  const settings = readSettings(env)
  const { database, shared, close } = await openDatabase(settings)
  try {
    await migrate(database)
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
