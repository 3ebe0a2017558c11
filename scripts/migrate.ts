/** `npm run migrate`: brings a database up to date; safe to run from several machines at once. */
import { Command } from 'commander'
import { migrate } from '#db/migrate'
import { openDatabase } from '#runtime/app'
import { machineClock } from '#runtime/clock'
import { openQueue } from '#runtime/queue'
import { loadRegistry } from '#runtime/registry'
import { readSettings } from '#runtime/settings'
import { explain } from './lib/explain.ts'

await new Command('migrate')
  .description('Brings the database of the settings up to date: the tables, then the job queue’s own.')
  .action(() =>
    explain(async () => {
      const { jobs } = await loadRegistry()
      const { database, close } = await openDatabase(readSettings(process.env))
      try {
        const run = await migrate(database)
        const queue = await openQueue(database, jobs, machineClock(), {
          supervise: false,
          onError: (error) => console.error(error.message),
        })
        await queue.stop()
        console.log(run.length === 0 ? 'The database is up to date.' : `Done: ${run.join(', ')}`)
      } finally {
        await close()
      }
    }),
  )
  .parseAsync()
