/** `npm run migrate`: brings a database up to date; safe to run from several machines at once. */
import type { Command } from 'commander'
import { distribute, requireNoServers } from '#db/citus/distribute'
import { readTopology } from '#db/citus/topology'
import type { Database } from '#db/database'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { openDatabase } from '#runtime/server/app'
import { readSettings } from '#runtime/server/settings'
import { migrateDatabase } from '#runtime/server/startup-errors'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
import { printLine, type Terminal } from '#scripts/cli/terminal'

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
      'then move the rows of stores to the workers of the Citus cluster whose coordinator DATABASE_URL names, with ' +
        'all servers stopped. Nothing is lost if it is killed; run again, it continues',
    )
    .action(({ distribute: isAsked = false }: { distribute?: boolean }) => bringUpToDate(terminal, isAsked))

async function bringUpToDate(terminal: Terminal, isAsked: boolean): Promise<void> {
  const { out, err, env } = terminal
  const { jobs } = await loadRegistry()
  const settings = await readSettings(env)
  const { database, close } = await openDatabase(settings, undefined, 'merchant-migrate')
  try {
    if (isAsked) await requireNoServers(database)
    const run = await migrateDatabase(settings, database.longRunning)
    const queue = await openQueue(database, jobs, machineClock(), {
      supervise: false,
      onError: (error) => printLine(err, error.message),
    })
    await queue.stop()
    for (const name of run) printLine(out, `Done: ${name}`)
    if (run.length === 0) printLine(out, 'The database is up to date.')
    if (isAsked) await distributeAll(terminal, database)
    else if ((await readTopology(database))?.isDistributed === false) {
      printLine(
        out,
        'All rows are on the coordinator: npm run migrate -- --distribute moves them to the workers.',
      )
    }
  } finally {
    await close()
  }
}

async function distributeAll({ out, err }: Terminal, database: Database): Promise<void> {
  if (!(await readTopology(database))) {
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
        // Even an empty table takes a while, so each table counts as 1000 rows more.
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
  printLine(
    out,
    tables.length > 0 ? `Distributed: ${tables.length} tables.` : 'Everything is distributed already.',
  )
}

if (import.meta.main) process.exitCode = await runProgram(migrateProgram)
