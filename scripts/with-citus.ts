/** `npm run with-citus -- <command>`: runs it beside a Citus cluster of its own, and ends as it ends. */
import type { Command } from 'commander'
import { besideArguments, runBeside } from '#scripts/cli/beside'
import { throwawayCitus } from '#scripts/cli/citus'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import type { Terminal } from '#scripts/cli/terminal'

export const withCitusProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run with-citus --')
    .description(
      'Starts a throwaway Citus cluster, a coordinator and two workers on this machine, runs the command with the ' +
        'coordinator’s address in TEST_DATABASE_URL, deletes the cluster and passes the exit code of the command on.',
    )
    .argument('<command>', 'what to run')
    .argument('[arguments...]', 'its own, flags too')
    .option('--durable', 'keep fsync on; without it the cluster is fast and would not survive a power cut')
    // What comes after the command is the command's.
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
      exitWith(await runBeside(() => throwawayCitus({ durable }), command, args)),
    )

if (import.meta.main) process.exitCode = await runProgram(withCitusProgram, besideArguments())
