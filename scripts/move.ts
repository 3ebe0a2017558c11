/** `npm run move`: copies the embedded database of DATA_DIR into the PostgreSQL, or Citus cluster, of DATABASE_URL. */
import type { Command } from 'commander'
import { readSnapshot } from '#db/copy/source'
import { openEmbedded } from '#db/embedded/open'
import { SettingsError } from '#db/settings-error'
import { readSettings } from '#runtime/server/settings'
import { migrateDatabase } from '#runtime/server/startup-errors'
import { requireEmbedded } from '#scripts/cli/database'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'
import { countRows } from '#scripts/copy/rows'
import { fillDatabase } from '#scripts/copy/target'

export const moveProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run move --')
    .description(
      'Moves everything in the embedded database of DATA_DIR into that of DATABASE_URL, which has no store yet, with the ' +
        'server stopped. On the coordinator of a Citus cluster it is distributed at once. All of it arrives, compared by ' +
        'counts and sums of every table, or nothing; what is in DATA_DIR stays.',
    )
    .addHelpText(
      'after',
      examples(terminal, 'DATA_DIR=./data DATABASE_URL=postgres://user:password@host/database npm run move'),
    )
    .action(() => move(terminal))

async function move(terminal: Terminal): Promise<void> {
  const { env, out } = terminal
  if (!env.DATABASE_URL) throw new SettingsError('DATABASE_URL: name the PostgreSQL to move to')
  requireEmbedded({ ...env, DATABASE_URL: '' })
  const settings = await readSettings(env)
  const { database, shared, close } = await openEmbedded(settings)
  try {
    if (shared) {
      throw new SettingsError(
        `DATA_DIR: a server runs on ${settings.dataDir}: stop it first, what it went on to write would be left behind`,
      )
    }
    await migrateDatabase({ ...settings, databaseUrl: null }, database)
    await readSnapshot(database, async (source) => {
      await fillDatabase(terminal, settings, source)
      printLine(
        out,
        `Moved: ${source.tables.length} tables, ${countRows(source.tables)} rows. Start servers with this DATABASE_URL.`,
      )
    })
    printLine(
      out,
      `Files and the secret key stay in ${settings.dataDir}: keep that DATA_DIR, or take the folder along.`,
    )
  } finally {
    await close()
  }
}

if (import.meta.main) process.exitCode = await runProgram(moveProgram)
