/** `npm run dev`: the server, started again at every change of a file. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Command } from 'commander'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import type { Terminal } from '#scripts/cli/terminal'

const watched = ['operations', 'runtime', 'db', 'scripts']
const root = join(import.meta.dirname, '..')

export const devProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run dev')
    .description('Starts the gateway and the worker as `npm start` does, again at every change of a file.')
    .addHelpText('after', examples(terminal, 'npm run dev', 'PORT=4000 npm run dev'))
    .action(async () => exitWith(await watch()))

/** Runs Node's watch mode until a signal ends it. */
async function watch(): Promise<number> {
  const flags = watched.map((folder) => `--watch-path=${join(root, folder)}`)
  const child = spawn(process.execPath, [...flags, join(root, 'scripts/start.ts')], {
    cwd: root,
    stdio: 'inherit',
  })
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, passOn)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 0))
  })
}

if (import.meta.main) process.exitCode = await runProgram(devProgram)
