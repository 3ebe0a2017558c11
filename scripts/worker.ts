/** `npm run worker`: runs jobs, without a gateway; any number of them, beside any number of gateways. */
import { setFlagsFromString } from 'node:v8'
import { Command } from 'commander'
import { openApp } from '#runtime/app'
import { openLog } from '#runtime/log'
import { explainAndExit, stopOnSignals } from '#runtime/server'
import { readSettings } from '#runtime/settings'

// What a job streams is garbage at once, and old by then: else twice as much of it as of all the rest lies about.
setFlagsFromString('--heap-growing-percent=50')

await new Command('worker')
  .description('Runs the jobs of the queue until it is told to stop.')
  .action(async () => {
    try {
      const settings = readSettings(process.env)
      const app = await openApp({ settings, log: openLog(settings.logLevel), role: 'worker' })
      await app.worker.start()
      const stop = async (): Promise<void> => {
        await app.worker.stop()
        await app.close()
      }
      stopOnSignals(stop, app.services.log)
      console.error('The worker is running')
    } catch (error) {
      explainAndExit(error)
    }
  })
  .parseAsync()
