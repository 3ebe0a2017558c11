/** `npm run bench`: the gateway beside bare Hono and beside Fastify, on a PostgreSQL of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import postgres from 'postgres'
import { readSettings } from '#runtime/settings'
import { makeFixture } from './bench/fixture.ts'
import { type OperationName, operationNames } from './bench/operations.ts'
import { comparisonsOf, linesOf, machine, type Results, tableOf } from './bench/report.ts'
import { measure } from './bench/rounds.ts'
import { areaNames, measureSizes, type SizesOptions, sizesTable } from './bench/sizes.ts'
import { throwawayPostgres } from './lib/postgres.ts'

interface Options {
  seconds: number
  rounds: number
  connections: number
  clients: number
  only: readonly OperationName[]
  json?: string
}

const whole = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('It must be a whole number from 1.')
  return value
}
const names = (text: string): readonly OperationName[] =>
  text.split(',').map((name) => {
    const known = operationNames.find((each) => each === name.trim())
    if (!known) throw new InvalidArgumentError(`It must name some of ${operationNames.join(', ')}.`)
    return known
  })

const defaultClients = readSettings({ SECRET_KEY: 'none is used: '.padEnd(32, '.') }).databaseReads

const someAreas = (text: string): readonly string[] =>
  text.split(',').map((name) => {
    if (areaNames.includes(name.trim())) return name.trim()
    throw new InvalidArgumentError(`It must name some of ${areaNames.join(', ')}.`)
  })

const command = new Command('bench')
  // Both have options of the same names: those after `sizes` are its own.
  .enablePositionalOptions()
  .description(
    'Measures a read by id, a list of 20, a create and a 403 on the gateway with everything on, on bare Hono with ' +
      'postgres.js, and on Fastify with its usual plugins, in turn, on a throwaway PostgreSQL. ' +
      'Prints medians as a table, then everything as JSON.',
  )
  .option('--seconds <n>', 'length of each measurement; short ones hide faults', whole, 60)
  .option('--rounds <n>', 'measurements of each operation on each server', whole, 3)
  .option('--connections <n>', 'connections that send requests', whole, 16)
  .option('--clients <n>', 'database connections of each server', whole, defaultClients)
  .option('--only <names>', `some of ${operationNames.join(', ')}`, names, operationNames)
  .option('--json <file>', 'writes the JSON there too')
  .action((options: Options) => told(() => bench(options)))

command
  .command('sizes')
  .description(
    'Measures the calls that have a time on stores of the size that the pages say, each area on a throwaway ' +
      'PostgreSQL of its own: the 95th percentile beside the time, and beside a SELECT of the same rows. ' +
      'Prints a table, then everything as JSON.',
  )
  .option('--only <names>', `some of ${areaNames.join(', ')}`, someAreas, areaNames)
  .option('--rows <n>', "rows of each area instead of the pages' numbers", whole)
  .option('--samples <n>', 'answers measured of each call', whole, 40)
  .option('--json <file>', 'writes the JSON there too')
  .action((options: SizesOptions & { json?: string }) =>
    told(async () => {
      const sizes = await measureSizes(options, showProgress)
      showProgress('')
      const json = JSON.stringify(sizes, null, 2)
      console.log(`${sizesTable(sizes)}\n\n${json}`)
      if (options.json) writeFileSync(options.json, `${json}\n`)
    }),
  )

// A signal ends the process by way of its exit, which puts the servers and the cluster away.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code))
}
await command.parseAsync()

/** A failure is one sentence. */
async function told(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}

async function bench(options: Options): Promise<void> {
  const startedAt = new Date().toISOString()
  const cluster = await throwawayPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  try {
    const fixture = await makeFixture(cluster.url, folder, options.clients, options.only)
    const fixturePath = join(folder, 'fixture.json')
    writeFileSync(fixturePath, JSON.stringify(fixture))
    const measurements = await measure({
      fixture,
      fixturePath,
      folder,
      dataDir: cluster.dataDir,
      operations: options.only,
      rounds: options.rounds,
      seconds: options.seconds,
      connections: options.connections,
      onProgress: showProgress,
    })
    showProgress('')
    const results: Results = {
      startedAt,
      machine: machine(await postgresVersion(cluster.url)),
      seconds: options.seconds,
      rounds: options.rounds,
      connections: options.connections,
      databaseClients: options.clients,
      results: linesOf(measurements),
      comparisons: comparisonsOf(measurements),
      measurements,
    }
    const json = JSON.stringify(results, null, 2)
    console.log(`${tableOf(results)}\n\n${json}`)
    if (options.json) writeFileSync(options.json, `${json}\n`)
  } finally {
    await cluster.stop()
  }
}

/** One line that is written over; nothing in a pipe. */
function showProgress(text: string, done?: number, all?: number): void {
  if (!process.stderr.isTTY) return
  process.stderr.write(`\r\x1b[K${done === undefined ? text : `${done}/${all} ${text}`}`)
}

async function postgresVersion(url: string): Promise<string> {
  const sql = postgres(url, { max: 1 })
  const [row] = await sql<{ server_version: string }[]>`show server_version`
  await sql.end()
  return row!.server_version
}
