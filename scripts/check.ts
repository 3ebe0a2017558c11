/** `npm run check`: types, lint and format, imports, unused code, the registry and the rules that no tool has. No database. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readRegistry } from '#runtime/registry/registry'
import { contractFaults } from '#scripts/checks/contract'
import { domainFaults } from '#scripts/checks/domains'
import { folderFaults } from '#scripts/checks/folders'
import { patternFaults } from '#scripts/checks/patterns'
import { tableFaults } from '#scripts/checks/tables'
import { testedFaults } from '#scripts/checks/tested'
import { lint } from '#scripts/checks/tools/lint'
import { type Result, tool } from '#scripts/checks/tools/tool'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { line, paint, type Terminal } from '#scripts/cli/terminal'
import { placeholder } from '#scripts/new'

const root = join(import.meta.dirname, '..')

export const checkProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run check --')
    .description(
      'Checks types, lint, format, imports, unused files, exports and dependencies, every declaration of an operation or job, ' +
        'who writes and reads which table, patterns that block the process, and what breaks callers of the last release. ' +
        'Each fault is printed with its file and its remedy. Needs no database.',
    )
    .addHelpText('after', examples(terminal, 'npm run check'))
    .action(() => check(terminal))

async function check({ out }: Terminal): Promise<void> {
  const results = await Promise.all([
    // What it found the last time is kept: the second check reads what has changed.
    tool(root, 'types', join(root, 'node_modules/typescript7/bin/tsc'), [
      ...['--noEmit', '-p', 'tsconfig.json', '--incremental'],
      ...['--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'],
      ...checkers,
    ]),
    lint(root),
    tool(root, 'no unused files, exports or dependencies', join(root, 'node_modules/knip/bin/knip.js'), [
      '--no-progress',
      '--cache',
    ]),
    tool(root, 'imports', join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'), [
      ...['--output-type', 'err-long'],
      ...['db', 'runtime', 'operations', 'scripts'],
    ]),
    declarations(),
  ])
  for (const { name, ok, output } of results) {
    line(out, `${ok ? paint(out, 'green', 'ok  ') : paint(out, 'red', 'FAIL')}  ${name}`)
    if (!ok) line(out, output.trimEnd())
  }
  exitWith(results.every((result) => result.ok) ? 0 : 1)
}

/**
 * The compiler's four each read the types they share anew: where two processors are all there are, beside the other
 * checks, one takes half of their work and of their memory, and as long.
 */
const checkers = availableParallelism() > 2 ? [] : ['--checkers', '1']

async function declarations(): Promise<Result> {
  const { registry, faults } = await readRegistry()
  const ofFiles = [
    patternFaults(root),
    tableFaults(root),
    testedFaults(root),
    folderFaults(root),
    domainFaults(root),
  ]
  const unsaid = registry.operations
    .filter(({ spec }) => spec.description === placeholder)
    .map(({ file }) => ({
      file,
      wrong: 'still has the description that `npm run new` wrote',
      remedy: 'say in one sentence what it does to whom: callers and assistants read it',
    }))
  // What cannot be published is among the faults already.
  const broken = faults.length > 0 ? [] : await contractFaults(registry)
  const all = [...faults, ...unsaid, ...broken, ...(await Promise.all(ofFiles)).flat()]
  const size = `${registry.operations.length} operations, ${registry.jobs.length} jobs`
  return {
    name: `registry and rules of the project (${size})`,
    ok: all.length === 0,
    output: all.map((fault) => `${fault.file}: ${fault.wrong} → ${fault.remedy}`).join('\n'),
  }
}

if (import.meta.main) process.exitCode = await runProgram(checkProgram)
