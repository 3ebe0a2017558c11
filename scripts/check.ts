/** `npm run check`: types, lint and format, unused code, the registry, who imports whom, who reads the clock, what never ends. No database. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Command } from 'commander'
import type { Fault } from '#runtime/registry/checks'
import { readRegistry } from '#runtime/registry/registry'
import { contractFaults } from '#scripts/checks/contract'
import { lint } from '#scripts/checks/tools/lint'
import { type Result, tool } from '#scripts/checks/tools/tool'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { line, paint, type Terminal } from '#scripts/cli/terminal'
import { placeholder } from '#scripts/new'

const root = join(import.meta.dirname, '..')

export const checkProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run check --')
    .description(
      'Checks types, lint, format, unused files, exports and dependencies, every declaration of an operation or job, who imports whom, who reads the ' +
        "machine's clock, what nobody could end, how people and SQL's nulls are compared, who reckons money, how a row is found by its id, what is " +
        'told once, who writes and reads which table, what the runtime names, what is written or kept twice, and what breaks callers of the last release. Each fault is told with its file and its remedy. Needs no database.',
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

/** While the registry is loaded. */
function treeFaults(half: 0 | 1): Promise<Fault[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./checks/threads/trees.ts', import.meta.url), {
      workerData: { root, half },
      // Syntax that is looked at and let go: a larger young generation is collected less often.
      resourceLimits: { maxYoungGenerationSizeMb: 192 },
    })
    thread.once('message', resolve)
    thread.once('error', reject)
  })
}

async function declarations(): Promise<Result> {
  const [{ registry, faults }, ...trees] = await Promise.all([readRegistry(), treeFaults(0), treeFaults(1)])
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
