/** What goes wrong at a start and can be mended by who starts it: one clear line. */
import type { Database } from '#db/database'
import { migrate, NewerDatabase } from '#db/migrate'
import { SettingsError } from '#db/settings-error'
import { Refusal } from '#runtime/errors'
import { RegistryError } from '#runtime/registry/registry'
import { whyNotConnected } from './sentences.ts'
import type { Settings } from './settings.ts'

/** Whether its message is all that a person needs; of anything else the whole error is told. */
export const isMendable = (error: unknown): error is Error =>
  error instanceof Refusal || error instanceof RegistryError || error instanceof SettingsError

/** As a refusal of the settings where one of them mends it. */
export const mendable = (why: string | null, error: unknown): unknown =>
  why === null ? error : new SettingsError(why)

/** Brings it up to date, and answers the names of what ran. */
export const migrated = (settings: Settings, database: Database): Promise<string[]> =>
  reached(settings, () => migrate(database))

/** The first that is asked of a database: what keeps us from it is told as what mends it. */
export async function reached<T>(settings: Settings, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NewerDatabase) throw new SettingsError(error.message)
    throw settings.databaseUrl ? mendable(whyNotConnected(error, settings.databaseUrl), error) : error
  }
}
