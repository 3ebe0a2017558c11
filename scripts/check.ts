/** `npm run check`: types, lint and format, the registry, and who imports whom. No database. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Command } from 'commander'
import { readRegistry } from '#runtime/registry'
import { importFaults } from './lib/imports.ts'

const root = join(import.meta.dirname, '..')

new Command('check')
  .description(
    'Checks types, lint, format, every declaration of an operation or job, and the imports. Needs no database.',
  )
  .action(async () => {
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
      console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}`)
      if (!ok) console.log(output.trimEnd())
    }
    process.exitCode = results.every((result) => result.ok) ? 0 : 1
  })
  .parseAsync()

interface Result {
  name: string
  ok: boolean
  output: string
}

async function declarations(): Promise<Result> {
  const { registry, faults } = await readRegistry()
  const all = [...faults, ...(await importFaults(root))]
  const size = `${registry.operations.length} operations, ${registry.jobs.length} jobs`
  return {
    name: `registry and imports (${size})`,
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
