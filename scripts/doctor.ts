/** `npm run doctor`: checks the database, the settings and this machine before a server starts on them. */
import type { Command } from 'commander'
import { machineClock } from '#runtime/clock'
import { openDatabase } from '#runtime/server/app'
import { acceptSecretKey, findIssues } from '#runtime/server/preflight'
import { readSettings } from '#runtime/server/settings'
import { withConnectMessages } from '#runtime/server/startup-errors'
import { requireEmbedded } from '#scripts/cli/database'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'

export const doctorProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run doctor --')
    .description(
      'Checks the database (encoding, locale, writes, clock, TLS, migrations), SECRET_KEY, PUBLIC_URL and the disk. ' +
        'Prints one line per finding with its remedy; exits with 1 if there is a fault. Changes nothing without ' +
        '--accept-secret-key.',
    )
    .addHelpText('after', examples(terminal, 'DATABASE_URL=postgres://… npm run doctor'))
    .option(
      '--accept-secret-key',
      'use SECRET_KEY from now on, although stored credentials do not open with it',
    )
    .action(({ acceptSecretKey: accepts = false }: { acceptSecretKey?: boolean }) =>
      examine(terminal, accepts),
    )

async function examine({ out, env }: Terminal, accepts: boolean): Promise<void> {
  requireEmbedded(env)
  const settings = await readSettings(env)
  const { database, close } = await openDatabase(settings)
  try {
    const found = await withConnectMessages(settings, async () => {
      if (accepts) await acceptSecretKey(database, settings)
      return findIssues(database, settings, machineClock())
    })
    for (const { level, message } of found) printLine(out, `${level}: ${message}`)
    if (found.length === 0) printLine(out, 'Nothing to report.')
    if (found.some(({ level }) => level === 'fault')) exitWith(1)
  } finally {
    await close()
  }
}

if (import.meta.main) process.exitCode = await runProgram(doctorProgram)
