/** `npm run migrate`: brings a database up to date; safe to run from several machines at once. */
import type { Command } from 'commander'
import { migrate } from '#db/migrate'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { openDatabase } from '#runtime/server/app'
import { readSettings } from '#runtime/server/settings'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'

export const migrateProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run migrate --')
    .description(
      'Brings the database of DATABASE_URL, or else the embedded one of DATA_DIR, up to date: the tables, then the ' +
        'job queue’s own. Safe from several machines at once, and to run again.',
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run migrate',
        'DATABASE_URL=postgres://user:password@host/database npm run migrate',
      ),
    )
    .action(() => bringUpToDate(terminal))

async function bringUpToDate({ out, err, env }: Terminal): Promise<void> {
  const { jobs } = await loadRegistry()
  const { database, close } = await openDatabase(readSettings(env))
  try {
    const run = await migrate(database.patient)
    const queue = await openQueue(database, jobs, machineClock(), {
      supervise: false,
      onError: (error) => line(err, error.message),
    })
    await queue.stop()
    for (const name of run) line(out, `Done: ${name}`)
    if (run.length === 0) line(out, 'The database is up to date.')
  } finally {
    await close()
  }
}

if (import.meta.main) process.exitCode = await runProgram(migrateProgram)
