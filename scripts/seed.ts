/** `npm run seed -- demo | load`: fills a database, for trying things out and for measurements. */
import { writeFile } from 'node:fs/promises'
import { Command, InvalidArgumentError } from 'commander'
import { type App, openApp } from '#runtime/app'
import { openLog } from '#runtime/log'
import { readSettings } from '#runtime/settings'
import { explain } from './lib/explain.ts'
import { type Demo, seedDemo } from './seed/demo.ts'
import { type Load, type LoadSizes, seedLoad } from './seed/load.ts'

const program = new Command('seed').description('Fills a database.')

program
  .command('demo')
  .description('The demo stores. Run again: the same rows, with new keys; those before are revoked.')
  .option('--json', 'one line of JSON')
  .action((options: { json?: boolean }) =>
    explain(async () => {
      const startedAt = performance.now()
      const demo = await withApp(({ services }) => seedDemo(services))
      const seconds = secondsSince(startedAt)
      console.log(options.json ? JSON.stringify({ ...demo, seconds }) : demoText(demo, seconds))
    }),
  )

program
  .command('load')
  .description('Many rows, for measurements; run again, it adds as many once more. Every store gets a key.')
  .option('--stores <n>', 'stores to make, named load-1 and on; those that exist are filled again', whole)
  .option('--store <slug>', 'fill this store instead')
  .option('--campaigns <n>', 'drafts and sent campaigns in each store', whole)
  .option('--lists <n>', 'contact lists in each store', whole)
  .option('--contacts <n>', 'contacts in each list', whole)
  .option('--opt-outs <n>', 'opt-outs in each store', whole)
  .option('--orders <n>', 'orders in each store, beside those of conversions', whole)
  .option('--conversions <n>', 'conversions, with their orders, in each store', whole)
  .option('--days <n>', 'how far back orders and conversions go', whole, 365)
  .option('--keys <file>', 'write the keys to this file as JSON instead of printing them')
  .option('--json', 'one line of JSON')
  .action((options: LoadOptions) =>
    explain(async () => {
      const { json, keys: file, ...sizes } = options
      if (sizes.store !== undefined && sizes.stores !== undefined) {
        throw new Error('Name --stores or --store, not both')
      }
      const startedAt = performance.now()
      const load = await withApp(({ services }) => seedLoad(services, sizes))
      const seconds = secondsSince(startedAt)
      if (file !== undefined) await writeFile(file, `${JSON.stringify(load.keys)}\n`, { mode: 0o600 })
      const shown = file === undefined ? load : { ...load, keys: [] }
      console.log(json ? JSON.stringify({ ...shown, seconds }) : loadText(shown, seconds))
    }),
  )

interface LoadOptions extends LoadSizes {
  keys?: string
  json?: boolean
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Opens the database of the settings, migrates it, and closes it again. */
async function withApp<T>(run: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp({ settings: readSettings(process.env), log: openLog('error'), supervise: false })
  try {
    return await run(app)
  } finally {
    await app.close()
  }
}

const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 100) / 10

function demoText({ stores, keys }: Demo, seconds: number): string {
  const parts = stores.map(({ id, slug, publicId, name }) => {
    const own = keys.filter((each) => each.store === slug)
    const lines = own.map((each) => `  ${each.name.padEnd(26)} ${each.key}`)
    return [`${name} (${slug}), id ${id}, public id ${publicId}`, ...lines].join('\n')
  })
  return [...parts, `Seeded in ${seconds} s. The keys are shown this once.`].join('\n\n')
}

function loadText({ rows, keys }: Load, seconds: number): string {
  const counts = Object.entries(rows).map(([table, count]) => `${String(count).padStart(10)}  ${table}`)
  return [...counts, ...keys.map(({ store, key }) => `${store}  ${key}`), `Seeded in ${seconds} s`].join('\n')
}

await program.parseAsync()
