/** Runs a command with TEST_DATABASE_URL set to a PostgreSQL server of its own, and ends as it ends. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { throwawayPostgres } from './lib/postgres.ts'

const usage = `Usage: with-postgres [--durable] -- <command> [arguments…]

Starts a throwaway PostgreSQL server, runs the command with its address in TEST_DATABASE_URL, deletes the server
and passes the command's exit code on.

  --durable  keep fsync on; without it the server is fast and would not survive a power cut
  --help     show this`

const separator = process.argv.indexOf('--')
const options = process.argv.slice(2, separator < 0 ? undefined : separator)
const [command, ...args] = separator < 0 ? [] : process.argv.slice(separator + 1)
const unknown = options.find((option) => !['--durable', '--help', '-h'].includes(option))

if (options.includes('--help') || options.includes('-h')) console.log(usage)
else if (unknown !== undefined || command === undefined) {
  console.error(unknown ? `Unknown option ${unknown}: see --help` : 'Name a command after --: see --help')
  process.exitCode = 2
} else {
  try {
    process.exitCode = await runWithPostgres(command, args)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}

async function runWithPostgres(program: string, programArgs: string[]): Promise<number> {
  // A signal is the command's to act on; ours is to put the server away once it has ended.
  let stopChild: ((signal: NodeJS.Signals) => void) | null = null
  let asked: NodeJS.Signals | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      asked = signal
      stopChild?.(signal)
    })
  }
  const server = await throwawayPostgres({ durable: options.includes('--durable') })
  try {
    if (asked) return 128 + constants.signals[asked]
    return await new Promise<number>((resolve, reject) => {
      const child = spawn(program, programArgs, {
        stdio: 'inherit',
        env: { ...process.env, TEST_DATABASE_URL: server.url },
      })
      stopChild = (signal) => child.kill(signal)
      child.once('error', (error) => reject(new Error(`${program}: ${error.message}`)))
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
  } finally {
    await server.stop()
  }
}
