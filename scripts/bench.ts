/** `npm run bench`: compares the gateway with bare node:http, Hono and Fastify, on a PostgreSQL of its own. */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { onlyOption, parseOutputFile, parseSeconds, parseWholeFrom } from '#scripts/cli/options'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { type Progress, showProgress } from '#scripts/cli/progress'
import { type Output, printLine, type Terminal } from '#scripts/cli/terminal'
import { compare } from './bench/compare.ts'
import { makeFixture, withThrowaway } from './bench/fixture.ts'
import { type OperationName, operationNames } from './bench/operations.ts'
import { type Results, resultsTable, summarize } from './bench/report.ts'
import { areaNames, measureSizes, type SizesOptions, sizesTable } from './bench/sizes.ts'
import { measureTenants, tenantsTable } from './bench/tenants.ts'

interface Options {
  seconds: number
  rounds: number
  connections: number
  stores: number
  only: readonly OperationName[]
}

type WithFile<T> = T & { json?: string }

const from1 = parseWholeFrom(1)

export function benchProgram(terminal: Terminal): Command {
  const { out, err } = terminal
  const program = newProgram(terminal, 'npm run bench --')
    // The subcommands have options of the same names.
    .enablePositionalOptions()
    .description(
      'Measures reads, lists and creates on the gateway with everything on and its default limits, compared with ' +
        'node:http and Hono with only postgres.js, and Fastify with its usual guards and with those of the ' +
        'gateway, in turn, on a throwaway PostgreSQL. Prints medians as a table, then everything as JSON.',
    )
    .option(
      '--seconds <n>',
      'length of each measurement, in seconds; short ones hide problems',
      parseSeconds,
      15,
    )
    .option('--rounds <n>', 'measurements of each operation on each server', from1, 3)
    .option('--connections <n>', 'connections that send requests', from1, 16)
    .option('--stores <n>', 'stores that send in turn: fewer reach their limits', parseWholeFrom(100), 500)
    .addOption(onlyOption(operationNames))
    .option('--json <file>', 'writes the JSON there too', parseOutputFile)
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run bench -- --only read,list --seconds 20 --json results.json',
        'npm run bench -- sizes --only inbox',
      ),
    )
    .action(async ({ json, ...options }: WithFile<Options>) => {
      const results = await bench(options, showProgress(err))
      print(out, resultsTable(out, results.results), { options, ...results }, json)
    })
  program
    .command('sizes')
    .description(
      'Measures the calls with a time limit, on stores of the size that the limit is for, each area on a ' +
        'throwaway PostgreSQL of its own. Prints a table, then everything as JSON.',
    )
    .addOption(onlyOption(areaNames))
    .option('--rows <n>', "rows of each area instead of the area's own number", from1)
    .option('--samples <n>', 'answers measured of each call', from1, 40)
    .option('--json <file>', 'writes the JSON there too', parseOutputFile)
    .addHelpText('after', examples(terminal, 'npm run bench -- sizes --only inbox,reviews --samples 10'))
    .action(async ({ json, ...options }: WithFile<SizesOptions>) => {
      const sizes = await measureSizes(options, showProgress(err))
      print(out, sizesTable(out, sizes), sizes, json)
    })
  program
    .command('tenants')
    .description(
      'Counts the jobs and the CPU time per hour of quiet stores with a connected shop, on a throwaway ' +
        'PostgreSQL with a simulated clock. Prints a table, then everything as JSON.',
    )
    .option('--stores <n>', 'stores, all connected', from1, 100)
    .option('--hours <n>', 'hours that pass', from1, 2)
    .option('--json <file>', 'writes the JSON there too', parseOutputFile)
    .addHelpText('after', examples(terminal, 'npm run bench -- tenants --stores 500 --hours 3'))
    .action(async ({ json, ...options }: WithFile<{ stores: number; hours: number }>) => {
      const tenants = await measureTenants(options, showProgress(err))
      print(out, tenantsTable(out, tenants), tenants, json)
    })
  return program
}

function print(out: Output, table: string, results: object, file: string | undefined): void {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version }
  const json = JSON.stringify({ endedAt: new Date().toISOString(), machine, ...results }, null, 2)
  printLine(out, `${table}\n\n${json}`)
  if (file) writeFileSync(file, `${json}\n`)
}

async function bench(options: Options, progress: Progress): Promise<Results> {
  try {
    return await withThrowaway(async ({ url, dataDir }, folder) => {
      progress.begin('Filling', 0)
      const fixture = await makeFixture(url, folder, options.stores)
      const fixturePath = join(folder, 'fixture.json')
      writeFileSync(fixturePath, JSON.stringify(fixture))
      const { only: operations, seconds, rounds, connections } = options
      const run = { fixture, fixturePath, dataDir, operations, seconds, rounds, connections, progress }
      const measurements = await compare(run)
      return { results: summarize(measurements), measurements }
    })
  } finally {
    progress.end()
  }
}

if (import.meta.main) {
  // A signal exits the process, whose exit handler deletes the cluster.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.exitCode = await runProgram(benchProgram)
}
