import { Refusal } from '#runtime/errors'
import { RegistryError } from '#runtime/registry'
import { SettingsError } from '#runtime/settings'

/** Runs a command; what a person can mend is one clear line on standard error, and exit 1. */
export async function explain(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    const isPlain =
      error instanceof Refusal ||
      error instanceof RegistryError ||
      error instanceof SettingsError ||
      (error instanceof Error && error.constructor === Error && !('code' in error))
    console.error(isPlain ? (error as Error).message : error)
    process.exitCode = 1
  }
}
