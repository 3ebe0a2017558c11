/** `npm run with-postgres -- <command>`: runs it beside a PostgreSQL server of its own, and ends as it ends. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Command } from 'commander'
import { throwawayPostgres } from '#scripts/cli/postgres'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import type { Terminal } from '#scripts/cli/terminal'

export const withPostgresProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run with-postgres --')
    .description(
      'Starts a throwaway PostgreSQL server, runs the command with its address in TEST_DATABASE_URL, deletes the server ' +
        'and passes the exit code of the command on.',
    )
    .argument('<command>', 'what to run')
    .argument('[arguments...]', 'its own, flags too')
    .option('--durable', 'keep fsync on; without it the server is fast and would not survive a power cut')
    // What comes after the command is the command's.
    .passThroughOptions()
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run with-postgres -- npm test',
        'npm run with-postgres -- --durable npx vitest run test/runtime',
      ),
    )
    .action(async (command: string, args: string[], { durable = false }: { durable?: boolean }) =>
      exitWith(await runWithPostgres(command, args, durable)),
    )

async function runWithPostgres(program: string, programArgs: string[], durable: boolean): Promise<number> {
  // A signal is the command's to act on; ours is to put the server away once it has ended.
  let stopChild: ((signal: NodeJS.Signals) => void) | null = null
  let asked: NodeJS.Signals | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      asked = signal
      stopChild?.(signal)
    })
  }
  const server = await throwawayPostgres({ durable })
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

if (import.meta.main) {
  // npm run adds a `--` of its own, before which no option could be given.
  const [first, ...rest] = process.argv.slice(2)
  process.exitCode = await runProgram(withPostgresProgram, first === '--' ? rest : process.argv.slice(2))
}
