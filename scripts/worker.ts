/** `npm run worker`: runs jobs, without a gateway; any number of them, beside any number of gateways. */
import { Command } from 'commander'
import { openApp } from '#runtime/app'
import { openLog } from '#runtime/log'
import { explainAndExit, stopOnSignals } from '#runtime/server'
import { readSettings } from '#runtime/settings'

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
