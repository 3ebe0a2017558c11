/** Turns startup errors that the operator can correct into one clear message each. */
import type { Database } from '#db/database'
import { findAppliedMigrations, migrate, NewerDatabase } from '#db/migrate'
import { findReadOnlyReason } from '#db/readiness'
import { SettingsError } from '#db/settings-error'
import { ApiError } from '#runtime/errors'
import { RegistryError } from '#runtime/registry/registry'
import { checkSecretKey, findTextIssues, otherSecretKey } from './preflight.ts'
import type { Settings } from './settings.ts'
import { describeConnectError } from './startup-messages.ts'

/** Whether an error's message says all that the operator needs; other errors are printed with their stack. */
export const isUserError = (error: unknown): error is Error =>
  error instanceof ApiError || error instanceof RegistryError || error instanceof SettingsError

/** Converts an error into a `SettingsError` with the message `why`; without one, returns the error itself. */
export const toSettingsError = (why: string | null, error: unknown): unknown =>
  why === null ? error : new SettingsError(why)

/**
 * Runs pending migrations and returns their names. Refuses a database that takes no writes, even if none is
 * pending, and a new one of another encoding than UTF8.
 */
export const migrateDatabase = (settings: Settings, database: Database): Promise<string[]> =>
  withConnectMessages(settings, async () => {
    const reason = await findReadOnlyReason(database)
    if (reason !== null) throw new SettingsError(`DATABASE_URL: ${reason}: name a server that takes writes`)
    if ((await findAppliedMigrations(database)).size === 0) {
      const [issue] = await findTextIssues(database)
      if (issue) throw new SettingsError(issue.message)
    }
    return migrate(database)
  })

/** Refuses to run on a database that was used with another secret key: stored credentials would not open. */
export async function requireSecretKey(settings: Settings, database: Database): Promise<void> {
  if (!(await checkSecretKey(database, settings))) throw new SettingsError(otherSecretKey)
}

/** Runs the first query on a database; a connection failure becomes a message with its remedy. */
export async function withConnectMessages<T>(settings: Settings, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NewerDatabase) throw new SettingsError(error.message)
    throw settings.databaseUrl
      ? toSettingsError(describeConnectError(error, settings.databaseUrl), error)
      : error
  }
}
