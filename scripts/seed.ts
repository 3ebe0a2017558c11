/** `npm run seed -- demo | load`: fills a database, for trying things out and for measurements. */
import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { type App, openApp } from '#runtime/server/app'
import { openLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import { jsonOption, parseOutputFile, parseWholeFrom } from '#scripts/cli/options'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import { type Output, printLine, type Terminal } from '#scripts/cli/terminal'
import { type Demo, seedDemo } from './seed/demo.ts'
import { type Load, type LoadSizes, seedLoad } from './seed/load.ts'

export function seedProgram(terminal: Terminal): Command {
  const program = newProgram(terminal, 'npm run seed --')
    .description(
      'Fills the database of DATABASE_URL, or else the embedded one of DATA_DIR. Works while the server runs.',
    )
    .addHelpText(
      'after',
      examples(terminal, 'npm run seed -- demo', 'npm run seed -- load --stores 2000 --campaigns 50'),
    )

  program
    .command('demo')
    .description('The demo stores. Run again, it keeps the rows, creates new keys and revokes the old ones.')
    .addOption(jsonOption())
    .addHelpText('after', examples(terminal, 'npm run seed -- demo', 'npm run --silent seed -- demo --json'))
    .action((options: { json?: boolean }) => demo(terminal, options))

  program
    .command('load')
    .description('Many rows, for measurements; run again, it adds as many more. Every store gets a key.')
    .option(
      '--stores <n>',
      'stores to fill: load-1 to load-<n>, made where they are missing (default: 1)',
      from0,
    )
    .option('--store <slug>', 'fill this store instead')
    .option('--campaigns <n>', 'drafts and sent campaigns in each store (default: 0)', from0)
    .option('--lists <n>', 'contact lists in each store (default: 0)', from0)
    .option('--contacts <n>', 'contacts in each list (default: 0)', from0)
    .option('--opt-outs <n>', 'opt-outs in each store (default: 0)', from0)
    .option('--orders <n>', 'orders in each store, beside those of conversions (default: 0)', from0)
    .option('--conversions <n>', 'conversions, with their orders, in each store (default: 0)', from0)
    .option('--days <n>', 'how many days back orders and conversions go', from0, 365)
    .option('--keys <file>', 'write the keys to this file as JSON instead of printing them', parseOutputFile)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run seed -- load --stores 2000 --campaigns 50 --keys keys.json',
        'npm run seed -- load --store aurora-supply --conversions 1000000 --days 730',
      ),
    )
    .action((options: LoadOptions) => load(terminal, options))
  return program
}

const from0 = parseWholeFrom(0)

async function demo({ out, err, env }: Terminal, { json }: { json?: boolean }): Promise<void> {
  const startedAt = performance.now()
  const made = await withApp(env, ({ services }) => seedDemo(services, 'all', showProgress(err)))
  const seconds = secondsSince(startedAt)
  printLine(out, json ? JSON.stringify({ ...made, seconds }) : renderDemo(made, seconds))
}

async function load({ out, err, env }: Terminal, options: LoadOptions): Promise<void> {
  const { json, keys: file, ...sizes } = options
  if (sizes.store !== undefined && sizes.stores !== undefined) {
    throw new Error('Name --stores or --store, not both')
  }
  const startedAt = performance.now()
  const made = await withApp(env, ({ services }) => seedLoad(services, sizes, showProgress(err)))
  const seconds = secondsSince(startedAt)
  if (file !== undefined) await writeFile(file, `${JSON.stringify(made.keys)}\n`, { mode: 0o600 })
  const shown = file === undefined ? made : { ...made, keys: [] }
  printLine(out, json ? JSON.stringify({ ...shown, seconds }) : renderLoad(out, shown, seconds))
}

interface LoadOptions extends LoadSizes {
  keys?: string
  json?: boolean
}

/** Opens the database of the settings, migrates it, and closes it again. */
async function withApp<T>(env: NodeJS.ProcessEnv, run: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp({ settings: await readSettings(env), log: openLog('error'), supervise: false })
  try {
    return await run(app)
  } finally {
    await app.close()
  }
}

const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 100) / 10

function renderDemo({ stores, keys }: Demo, seconds: number): string {
  const parts = stores.map(({ id, slug, publicId, name }) => {
    const own = keys.filter((each) => each.store === slug)
    const lines = own.map((each) => `  ${each.name.padEnd(26)} ${each.key}`)
    return [`${name} (${slug}), id ${id}, public id ${publicId}`, ...lines].join('\n')
  })
  return [...parts, `Seeded in ${seconds} s. The keys are shown this once.`].join('\n\n')
}

const rowColumns: Column[] = [
  { title: 'rows', kind: 'number' },
  { title: 'table', kind: 'exact' },
]

const keyColumns: Column[] = [
  { title: 'store', kind: 'exact' },
  { title: 'key', kind: 'exact' },
]

function renderLoad(out: Output, { rows, keys }: Load, seconds: number): string {
  const counts = Object.entries(rows).map(([name, count]) => [String(count), name])
  const shown = keys.map(({ store, key }) => [store, key])
  return [
    ...(counts.length > 0 ? [...table(out, rowColumns, counts), ''] : []),
    ...(shown.length > 0 ? [...table(out, keyColumns, shown), ''] : []),
    `Seeded in ${seconds} s.${shown.length > 0 ? ' The keys are shown this once.' : ''}`,
  ].join('\n')
}

if (import.meta.main) process.exitCode = await runProgram(seedProgram)
