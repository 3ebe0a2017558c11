/** `npm run with-citus -- <command>`: runs a command with its own Citus cluster, and returns its exit code. */
import type { Command } from 'commander'
import { throwawayCitus } from '#scripts/cli/citus'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import type { Terminal } from '#scripts/cli/terminal'
import { commandArguments, runWithServer } from '#scripts/cli/with-server'

export const withCitusProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run with-citus --')
    .description(
      'Starts a throwaway Citus cluster, a coordinator and two workers on this machine, runs the command with the ' +
        'coordinator’s address in TEST_DATABASE_URL, deletes the cluster and returns the exit code of the command.',
    )
    .argument('<command>', 'what to run')
    .argument('[arguments...]', 'its arguments, including flags')
    .option('--durable', 'keep fsync on; without it the cluster is fast and would not survive a power cut')
    // Options after the command belong to the command.
    .passThroughOptions()
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run with-citus -- npm test',
        'npm run with-citus -- npx vitest run test/registry/walk.test.ts',
      ),
    )
    .action(async (command: string, args: string[], { durable = false }: { durable?: boolean }) =>
      exitWith(await runWithServer(() => throwawayCitus({ durable }), command, args)),
    )

if (import.meta.main) process.exitCode = await runProgram(withCitusProgram, commandArguments())
