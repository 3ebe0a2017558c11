/** `npm run worker`: runs jobs without a gateway; any number of workers with any number of gateways. */
import type { Command } from 'commander'
import { openApp } from '#runtime/server/app'
import { openLog } from '#runtime/server/log'
import { exitOnDatabaseFailure, explainAndExit, stopOnSignals } from '#runtime/server/server'
import { readSettings } from '#runtime/server/settings'
import { examples, newProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'

export const workerProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run worker --')
    .description(
      'Runs the jobs of the queue until SIGTERM or SIGINT; unfinished jobs are then requeued. Any number of ' +
        'workers run with any number of gateways. Settings come from the environment: docs/deploying.md lists them.',
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run worker',
        'DATABASE_URL=postgres://user:password@host/database SECRET_KEY=… npm run worker',
      ),
    )
    .action(() => work(terminal))

async function work({ err, env }: Terminal): Promise<void> {
  try {
    const settings = await readSettings(env)
    const app = await openApp({ settings, log: openLog(settings.logLevel), role: 'worker' })
    await app.worker.start()
    const stop = async (): Promise<void> => {
      await app.worker.stop()
      await app.close()
    }
    stopOnSignals(stop, app.services.log)
    exitOnDatabaseFailure(app.services)
    printLine(err, 'The worker is running')
  } catch (error) {
    explainAndExit(error)
  }
}
