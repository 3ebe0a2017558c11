/**
 * `npm run check`: types, lint and format, imports, unused code, the registry and rules without a tool. No database.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readRegistry } from '#runtime/registry/registry'
import { findContractIssues } from '#scripts/checks/contract'
import { findDomainIssues } from '#scripts/checks/domains'
import { findFolderIssues } from '#scripts/checks/folders'
import { findPatternIssues } from '#scripts/checks/patterns'
import { findTableIssues } from '#scripts/checks/tables'
import { findUntestedOperations } from '#scripts/checks/tested'
import { lint } from '#scripts/checks/tools/lint'
import { type Result, tool } from '#scripts/checks/tools/tool'
import { findWordingIssues } from '#scripts/checks/wording'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { paint, printLine, type Terminal } from '#scripts/cli/terminal'
import { placeholder } from '#scripts/new'

const root = join(import.meta.dirname, '..')

export const checkProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run check --')
    .description(
      'Checks types, lint, format, imports, unused files, exports and dependencies, every declaration of an operation or job, ' +
        'writes and reads of tables across sections, slow patterns, and changes that break callers of the last release. ' +
        'Each issue is printed with its file and its remedy. Needs no database.',
    )
    .addHelpText('after', examples(terminal, 'npm run check'))
    .action(() => check(terminal))

async function check({ out }: Terminal): Promise<void> {
  const results = await Promise.all([
    // The build info is kept, so that the next check reads only changed files.
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
    printLine(out, `${ok ? paint(out, 'green', 'ok  ') : paint(out, 'red', 'FAIL')}  ${name}`)
    if (!ok) printLine(out, output.trimEnd())
  }
  exitWith(results.every((result) => result.ok) ? 0 : 1)
}

/**
 * Options for the number of the compiler's checkers. Each of the default four parses the shared types again. On two
 * cores, with the other checks running, one checker needs half the CPU time and memory and takes equally long.
 */
const checkers = availableParallelism() > 2 ? [] : ['--checkers', '1']

async function declarations(): Promise<Result> {
  const { registry, issues } = await readRegistry()
  const ofFiles = [
    findPatternIssues(root),
    findTableIssues(root),
    findUntestedOperations(root),
    findFolderIssues(root),
    findDomainIssues(root),
    findWordingIssues(root),
  ]
  const unsaid = registry.operations
    .filter(({ spec }) => spec.description === placeholder)
    .map(({ file }) => ({
      file,
      wrong: 'still has the description that `npm run new` wrote',
      remedy: 'say in one sentence what it does to whom: callers and assistants read it',
    }))
  // A registry with issues cannot be published, and is reported already.
  const broken = issues.length > 0 ? [] : await findContractIssues(registry)
  const all = [...issues, ...unsaid, ...broken, ...(await Promise.all(ofFiles)).flat()]
  const size = `${registry.operations.length} operations, ${registry.jobs.length} jobs`
  return {
    name: `registry and rules of the project (${size})`,
    ok: all.length === 0,
    output: all.map((fault) => `${fault.file}: ${fault.wrong} → ${fault.remedy}`).join('\n'),
  }
}

if (import.meta.main) process.exitCode = await runProgram(checkProgram)
