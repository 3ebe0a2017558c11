/** `npm run bench`: the gateway beside bare Hono and beside Fastify, on a PostgreSQL of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import postgres from 'postgres'
import { readSettings } from '#runtime/server/settings'
import { onlyOption, seconds, wholeFrom } from '#scripts/cli/options'
import { throwawayPostgres } from '#scripts/cli/postgres'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { type Progress, showProgress } from '#scripts/cli/progress'
import { line, type Output, type Terminal } from '#scripts/cli/terminal'
import { citusCommand } from './bench/citus/command.ts'
import { makeFixture } from './bench/fixture.ts'
import { countedOneByOne, type OperationName, operationNames } from './bench/kinds.ts'
import { comparisonsOf, linesOf, machine, type Results, tableOf } from './bench/report.ts'
import { limitsUsedUp, measure } from './bench/rounds.ts'
import { areaNames, measureSizes, type SizesOptions, sizesTable } from './bench/sizes.ts'
import { tenantsCommand } from './bench/tenants/command.ts'

interface Options {
  seconds: number
  rounds: number
  connections: number
  clients: number
  stores: number
  limit: number
  only: readonly OperationName[]
  json?: string
}

const from1 = wholeFrom(1)
const fewestForLimits = 100
const { databaseReads: defaultClients } = await readSettings({ SECRET_KEY: 'none is used: '.padEnd(32, '.') })

export function benchProgram(terminal: Terminal): Command {
  const program = newProgram(terminal, 'npm run bench --')
  const { out, err } = terminal
  program
    // Both have options of the same names: those after `sizes` are its own.
    .enablePositionalOptions()
    .description(
      'Measures reads, lists, writes and refusals on the gateway with everything on, its limits counted as by default, ' +
        'beside node:http and Hono with nothing but postgres.js, and Fastify with the guards that it usually has ' +
        '(its own rate limit counts in the same PostgreSQL, one counter a key) and with the same as the gateway ' +
        '(the address too, and a line of the log), in turn, on a throwaway PostgreSQL. ' +
        'Prints medians as a table (milliseconds, microseconds of the processor), then everything as JSON.',
    )
    .option('--seconds <n>', 'length of each measurement, in seconds; short ones hide faults', seconds, 15)
    .option('--rounds <n>', 'measurements of each operation on each server', from1, 3)
    .option('--connections <n>', 'connections that send requests', from1, 16)
    .option('--clients <n>', 'database connections of each server', from1, defaultClients)
    .option(
      '--stores <n>',
      `stores whose keys and addresses send in turn; with fewer than ${fewestForLimits} limits are counted ahead, not one by one, and no 429 is measured`,
      from1,
      500,
    )
    .option(
      '--limit <n>',
      `requests a minute of each store, all used up before a 429 is measured: at most ${countedOneByOne}`,
      wholeFrom(1, countedOneByOne),
      countedOneByOne,
    )
    .addOption(onlyOption(operationNames))
    .option('--json <file>', 'writes the JSON there too')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run bench -- --json results.json',
        'npm run bench -- --only read,list --seconds 20 --rounds 5',
        'npm run bench -- sizes --only inbox',
      ),
    )
    .action(async (options: Options) => {
      const results = await bench(options, showProgress(err))
      tell(out, tableOf(out, results), results, options.json)
    })

  program
    .command('sizes')
    .description(
      'Measures the calls that have a time on stores of the size that the pages say, each area on a throwaway ' +
        'PostgreSQL of its own: the 95th percentile beside the time, and beside a SELECT of the same rows. ' +
        'Prints a table (milliseconds, MiB), then everything as JSON.',
    )
    .addOption(onlyOption(areaNames))
    .option('--rows <n>', "rows of each area instead of the pages' numbers", from1)
    .option('--samples <n>', 'answers measured of each call', from1, 40)
    .option('--json <file>', 'writes the JSON there too')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run bench -- sizes --json sizes.json',
        'npm run bench -- sizes --only inbox,reviews --rows 10000 --samples 10',
      ),
    )
    .action(async (options: SizesOptions & { json?: string }) => {
      const sizes = await measureSizes(options, showProgress(err))
      tell(out, sizesTable(out, sizes), sizes, options.json)
    })
  program.addCommand(tenantsCommand(terminal, tell))
  program.addCommand(citusCommand(terminal, tell))
  return program
}

function tell(out: Output, shown: string, results: object, file: string | undefined): void {
  const json = JSON.stringify(results, null, 2)
  line(out, `${shown}\n\n${json}`)
  if (file) writeFileSync(file, `${json}\n`)
}

async function bench(options: Options, progress: Progress): Promise<Results> {
  const startedAt = new Date().toISOString()
  const operations = options.only.filter((name) => name !== 'limited' || options.stores >= fewestForLimits)
  const cluster = await throwawayPostgres({ countsStatements: true })
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const { clients, stores, limit, rounds } = options
    const sizes = {
      clients,
      stores,
      limit,
      limited: operations.includes('limited') ? limitsUsedUp(rounds) : 0,
    }
    const fixture = await makeFixture(cluster.url, folder, sizes)
    const fixturePath = join(folder, 'fixture.json')
    writeFileSync(fixturePath, JSON.stringify(fixture))
    const measurements = await measure({
      fixture,
      fixturePath,
      dataDir: cluster.dataDir,
      operations,
      rounds,
      seconds: options.seconds,
      connections: options.connections,
      progress,
    })
    return {
      startedAt,
      machine: machine(await postgresVersion(cluster.url)),
      seconds: options.seconds,
      rounds: options.rounds,
      connections: options.connections,
      databaseClients: options.clients,
      stores: options.stores,
      results: linesOf(measurements),
      comparisons: comparisonsOf(measurements),
      measurements,
    }
  } finally {
    progress.end()
    await cluster.stop()
    process.off('exit', remove)
    remove()
  }
}

async function postgresVersion(url: string): Promise<string> {
  const sql = postgres(url, { max: 1 })
  const [row] = await sql<{ server_version: string }[]>`show server_version`
  await sql.end()
  return row!.server_version
}

if (import.meta.main) {
  // A signal ends the process by way of its exit, which puts the servers and the cluster away.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.exitCode = await runProgram(benchProgram)
}
