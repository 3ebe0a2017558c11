/** `npm run with-postgres -- <command>`: runs a command with its own PostgreSQL server, and returns its exit code. */
import { type Command, Option } from 'commander'
import { type PoolMode, throwawayPgbouncer } from '#scripts/cli/pgbouncer'
import { throwawayPostgres } from '#scripts/cli/postgres'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import type { Terminal } from '#scripts/cli/terminal'
import { commandArguments, runWithServer } from '#scripts/cli/with-server'

export const withPostgresProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run with-postgres --')
    .description(
      'Starts a throwaway PostgreSQL server, runs the command with its address in TEST_DATABASE_URL, deletes the server ' +
        'and returns the exit code of the command.',
    )
    .argument('<command>', 'what to run')
    .argument('[arguments...]', 'its arguments, including flags')
    .option('--durable', 'keep fsync on; without it the server is fast and would not survive a power cut')
    .option('--bin <folder>', 'PostgreSQL’s programs; default the newest version below /usr/lib/postgresql')
    .addOption(
      new Option(
        '--pooler <mode>',
        'tests of the gateway reach the server through a PgBouncer of their own (TEST_DATABASE_POOLER)',
      ).choices(['transaction', 'session']),
    )
    // Options after the command belong to the command.
    .passThroughOptions()
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run with-postgres -- npm test',
        'npm run with-postgres -- --durable npx vitest run test/runtime',
        'npm run with-postgres -- --bin /opt/postgresql-18/bin npx vitest run test/runtime/postgres.test.ts',
        'npm run with-postgres -- --pooler transaction npx vitest run test/registry',
      ),
    )
    .action(async (command: string, args: string[], options: Options) =>
      exitWith(await runWithServer(() => startServer(options), command, args)),
    )

interface Options {
  durable?: boolean
  bin?: string
  pooler?: PoolMode
}

async function startServer({ durable = false, bin, pooler }: Options) {
  const server = await throwawayPostgres({ durable, bin })
  if (!pooler) return server
  try {
    // Only one connection in transaction mode: code that needs a second one at the same time waits forever, so its test
    // fails.
    const poolSize = pooler === 'transaction' ? 1 : 20
    const bouncer = await throwawayPgbouncer(server.url, { mode: pooler, poolSize })
    const stop = async (): Promise<void> => {
      await bouncer.stop()
      await server.stop()
    }
    return { url: server.url, env: { TEST_DATABASE_POOLER: bouncer.url }, stop }
  } catch (error) {
    await server.stop()
    throw error
  }
}

if (import.meta.main) process.exitCode = await runProgram(withPostgresProgram, commandArguments())
