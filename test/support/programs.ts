/** All command lines, for tests that walk over them. */
import type { Command } from 'commander'
import { backupProgram } from '#scripts/backup'
import { benchProgram } from '#scripts/bench'
import { checkProgram } from '#scripts/check'
import type { Program } from '#scripts/cli/program'
import { countProgram } from '#scripts/count'
import { devProgram } from '#scripts/dev'
import { doctorProgram } from '#scripts/doctor'
import { keysProgram } from '#scripts/keys'
import { migrateProgram } from '#scripts/migrate'
import { moveProgram } from '#scripts/move'
import { newOperationProgram } from '#scripts/new'
import { openapiProgram } from '#scripts/openapi'
import { restoreProgram } from '#scripts/restore'
import { seedProgram } from '#scripts/seed'
import { startProgram } from '#scripts/server/start'
import { workerProgram } from '#scripts/server/worker'
import { storeProgram } from '#scripts/store'
import { withCitusProgram } from '#scripts/with-citus'
import { withPostgresProgram } from '#scripts/with-postgres'
import { fakeOutput } from './command.ts'

/** npm scripts whose help is another program's: vitest's, biome's, and `start`'s for `dev`. */
export const others = ['test', 'test:full', 'format']
export const programs: Record<string, Program> = {
  start: startProgram,
  dev: devProgram,
  check: checkProgram,
  worker: workerProgram,
  backup: backupProgram,
  restore: restoreProgram,
  doctor: doctorProgram,
  move: moveProgram,
  migrate: migrateProgram,
  keys: keysProgram,
  store: storeProgram,
  seed: seedProgram,
  new: newOperationProgram,
  openapi: openapiProgram,
  bench: benchProgram,
  'with-postgres': withPostgresProgram,
  'with-citus': withCitusProgram,
  count: countProgram,
}

export interface ListedCommand {
  /** As people call it: `npm run keys -- create`. */
  name: string
  /** The npm script. */
  script: string
  program: Program
  command: Command
  /** The arguments that lead to the command. */
  args: string[]
}

/** Every program and every subcommand. */
export function listCommands(): ListedCommand[] {
  const pipe = fakeOutput().output
  return Object.entries(programs).flatMap(([script, program]) => {
    const command = program({ out: pipe, err: pipe, env: {} })
    return [
      { name: command.name(), script, program, command, args: [] },
      ...command.commands.map((sub) => ({
        name: `${command.name()} ${sub.name()}`,
        script,
        program,
        command: sub,
        args: [sub.name()],
      })),
    ]
  })
}

/** Splits a line to copy: quotes group words, text before `npm` is the environment. */
export function splitExample(text: string): { script: string; given: string[] } {
  const words = (text.split('|')[0]!.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
  const npm = words.indexOf('npm')
  const script = words.slice(npm + 1).find((word) => word !== 'run' && !word.startsWith('-'))!
  const dashes = words.indexOf('--')
  return { script, given: dashes < 0 ? [] : words.slice(dashes + 1) }
}
