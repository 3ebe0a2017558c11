/** `npm run check`: types, lint and format, the registry, who imports whom, who reads the clock, what never ends. No database. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readRegistry } from '#runtime/registry/registry'
import { amountFaults } from './lib/amounts.ts'
import { clockFaults } from './lib/clocks.ts'
import { sameBodyFaults } from './lib/copies.ts'
import { identityFaults } from './lib/identity.ts'
import { importFaults } from './lib/imports.ts'
import { loopFaults } from './lib/loops.ts'
import { noticeFaults } from './lib/notices.ts'
import { nullFaults } from './lib/nulls.ts'
import { examples, exitWith, newProgram, runProgram } from './lib/program.ts'
import { roomFaults } from './lib/rooms.ts'
import { ruleFaults } from './lib/rules.ts'
import { stateFaults } from './lib/state.ts'
import { tableFaults } from './lib/tables.ts'
import { line, paint, type Terminal } from './lib/terminal.ts'
import { testFaults } from './lib/tests.ts'

const root = join(import.meta.dirname, '..')

export const checkProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run check --')
    .description(
      'Checks types, lint, format, every declaration of an operation or job, who imports whom, who reads the ' +
        "machine's clock, what nobody could end, how people and SQL's nulls are compared, who reckons money, what is " +
        'told once, who writes and reads which table, and what is written or kept twice. Each fault is told with its file and its remedy. Needs no database.',
    )
    .addHelpText('after', examples(terminal, 'npm run check'))
    .action(() => check(terminal))

async function check({ out }: Terminal): Promise<void> {
  const results = await Promise.all([
    tool('types', join(root, 'node_modules/typescript7/bin/tsc'), ['--noEmit', '-p', 'tsconfig.json']),
    tool('lint and format', join(root, 'node_modules/@biomejs/biome/bin/biome'), [
      'check',
      '--colors=off',
      '.',
    ]),
    declarations(),
  ])
  for (const { name, ok, output } of results) {
    line(out, `${ok ? paint(out, 'green', 'ok  ') : paint(out, 'red', 'FAIL')}  ${name}`)
    if (!ok) line(out, output.trimEnd())
  }
  exitWith(results.every((result) => result.ok) ? 0 : 1)
}

interface Result {
  name: string
  ok: boolean
  output: string
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
    tableFaults(root),
    sameBodyFaults(root),
    stateFaults(root),
    ruleFaults(root),
    testFaults(root),
  ])
  const all = [...faults, ...trees.flat()]
  const size = `${registry.operations.length} operations, ${registry.jobs.length} jobs`
  return {
    name: `registry and rules of the tree (${size})`,
    ok: all.length === 0,
    output: all.map((fault) => `${fault.file}: ${fault.wrong} → ${fault.remedy}`).join('\n'),
  }
}

function tool(name: string, script: string, args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ name, ok: false, output: String(error) }))
    child.on('close', (code) => resolve({ name, ok: code === 0, output }))
  })
}

if (import.meta.main) process.exitCode = await runProgram(checkProgram)
