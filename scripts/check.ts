/** `npm run check`: types, lint and format, the registry, who imports whom, who reads the clock, what never ends. No database. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { readRegistry } from '#runtime/registry/registry'
import { amountFaults } from '#scripts/checks/amounts'
import { clockFaults } from '#scripts/checks/clocks'
import { contractFaults } from '#scripts/checks/contract'
import { sameBodyFaults } from '#scripts/checks/copies'
import { identityFaults } from '#scripts/checks/identity'
import { importFaults } from '#scripts/checks/imports'
import { lint } from '#scripts/checks/lint'
import { loopFaults } from '#scripts/checks/loops'
import { noticeFaults } from '#scripts/checks/notices'
import { nullFaults } from '#scripts/checks/nulls'
import { roomFaults } from '#scripts/checks/rooms'
import { rowFaults } from '#scripts/checks/rows'
import { ruleFaults } from '#scripts/checks/rules'
import { stateFaults } from '#scripts/checks/state'
import { tableFaults } from '#scripts/checks/tables'
import { testFaults } from '#scripts/checks/tests'
import { type Result, tool } from '#scripts/checks/tool'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { line, paint, type Terminal } from '#scripts/cli/terminal'
import { placeholder } from '#scripts/new'

const root = join(import.meta.dirname, '..')

export const checkProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run check --')
    .description(
      'Checks types, lint, format, every declaration of an operation or job, who imports whom, who reads the ' +
        "machine's clock, what nobody could end, how people and SQL's nulls are compared, who reckons money, how a row is found by its id, what is " +
        'told once, who writes and reads which table, what is written or kept twice, and what breaks callers of the last release. Each fault is told with its file and its remedy. Needs no database.',
    )
    .addHelpText('after', examples(terminal, 'npm run check'))
    .action(() => check(terminal))

async function check({ out }: Terminal): Promise<void> {
  const results = await Promise.all([
    // What it found the last time is kept: the second check reads what has changed.
    tool(root, 'types', join(root, 'node_modules/typescript7/bin/tsc'), [
      ...['--noEmit', '-p', 'tsconfig.json', '--incremental'],
      ...['--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'],
    ]),
    lint(root),
    declarations(),
  ])
  for (const { name, ok, output } of results) {
    line(out, `${ok ? paint(out, 'green', 'ok  ') : paint(out, 'red', 'FAIL')}  ${name}`)
    if (!ok) line(out, output.trimEnd())
  }
  exitWith(results.every((result) => result.ok) ? 0 : 1)
}

async function declarations(): Promise<Result> {
  const { registry, faults } = await readRegistry()
  const trees = await Promise.all([
    importFaults(root),
    identityFaults(root),
    clockFaults(root),
    loopFaults(root),
    nullFaults(root),
    amountFaults(root),
    noticeFaults(root),
    roomFaults(root),
    rowFaults(root),
    tableFaults(root),
    sameBodyFaults(root),
    stateFaults(root),
    ruleFaults(root),
    testFaults(root),
  ])
  const unsaid = registry.operations
    .filter(({ spec }) => spec.description === placeholder)
    .map(({ file }) => ({
      file,
      wrong: 'still has the description that `npm run new` wrote',
      remedy: 'say in one sentence what it does to whom: callers and assistants read it',
    }))
  // What cannot be published is among the faults already.
  const broken = faults.length > 0 ? [] : await contractFaults(registry)
  const all = [...faults, ...unsaid, ...broken, ...trees.flat()]
  const size = `${registry.operations.length} operations, ${registry.jobs.length} jobs`
  return {
    name: `registry and rules of the tree (${size})`,
    ok: all.length === 0,
    output: all.map((fault) => `${fault.file}: ${fault.wrong} → ${fault.remedy}`).join('\n'),
  }
}

if (import.meta.main) process.exitCode = await runProgram(checkProgram)
