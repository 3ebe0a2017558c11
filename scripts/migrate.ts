/** `npm run migrate`: brings a database up to date; safe to run from several machines at once. */
import type { Command } from 'commander'
import { distribute, requireAlone } from '#db/citus/distribute'
import { standingOf } from '#db/citus/standing'
import type { Database } from '#db/database'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { openDatabase } from '#runtime/server/app'
import { migrated } from '#runtime/server/mendable'
import { readSettings } from '#runtime/server/settings'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
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
    .option(
      '--distribute',
      'then move the rows of stores to the workers of the Citus cluster whose coordinator DATABASE_URL names: with ' +
        'all servers stopped. Nothing is lost when it is killed; run again, it goes on',
    )
    .action(({ distribute: isAsked = false }: { distribute?: boolean }) => bringUpToDate(terminal, isAsked))

async function bringUpToDate(terminal: Terminal, isAsked: boolean): Promise<void> {
  const { out, err, env } = terminal
  const { jobs } = await loadRegistry()
  const settings = await readSettings(env)
  const { database, close } = await openDatabase(settings, undefined, 'merchant-migrate')
  try {
    if (isAsked) await requireAlone(database)
    const run = await migrated(settings, database.patient)
    const queue = await openQueue(database, jobs, machineClock(), {
      supervise: false,
      onError: (error) => line(err, error.message),
    })
    await queue.stop()
    for (const name of run) line(out, `Done: ${name}`)
    if (run.length === 0) line(out, 'The database is up to date.')
    if (isAsked) await distributeAll(terminal, database)
    else if ((await standingOf(database))?.isDistributed === false) {
      line(
        out,
        'Its rows are on the coordinator alone: npm run migrate -- --distribute moves them to the workers.',
      )
    }
  } finally {
    await close()
  }
}

async function distributeAll({ out, err }: Terminal, database: Database): Promise<void> {
  if (!(await standingOf(database))) {
    throw new Error(
      'DATABASE_URL names no coordinator of Citus: create extension citus there, and on its workers',
    )
  }
  const progress = showProgress(err)
  let tables: string[]
  let done = 0
  let under = 0
  let known = new Map<string, number>()
  try {
    tables = await distribute(database, {
      begin(all) {
        // A table takes a while without a row, too.
        known = new Map(all.map(({ table, rows }) => [table, rows + 1000]))
        progress.begin(
          'Distributing',
          [...known.values()].reduce((sum, rows) => sum + rows, 0),
          'rows',
        )
      },
      table(table) {
        done += under
        under = known.get(table) ?? 0
        progress.at(done, table)
      },
      keys(at, all) {
        if (at === 0) progress.begin('Foreign keys', all)
        progress.at(at)
      },
    })
  } finally {
    progress.end()
  }
  line(out, tables.length > 0 ? `Distributed: ${tables.length} tables.` : 'Everything lies where it belongs.')
}

if (import.meta.main) process.exitCode = await runProgram(migrateProgram)
