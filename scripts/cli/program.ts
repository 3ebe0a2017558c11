/** Builds and runs command lines, in the same way in a process and in a test. */
import { readFileSync } from 'node:fs'
import { inspect, parseEnv } from 'node:util'
import { Command, CommanderError, type HelpContext } from 'commander'
import { isUserError } from '#runtime/server/startup-errors'
import { describeConnectionLoss } from '#runtime/server/startup-messages'
import { getWidth, paint, printLine, processTerminal, type Terminal } from './terminal.ts'

/** Builds a new command for each run, because commander keeps parsed values. */
export type Program = (terminal: Terminal) => Command

/**
 * A command that, if called without a subcommand, lists only the names of its subcommands instead of its whole help.
 */
class CommandLine extends Command {
  override createCommand(name?: string): Command {
    return new CommandLine(name)
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context !== 'object' || !context.error) return super.help()
    const names = this.commands.map((each) => each.name()).join(', ')
    return this.error(`error: name a command: ${names} (see --help)`)
  }
}

const envFileFlag = '--env-file <file>'
const envFileOption = /^--env-file(?:=(.*))?$/s

/**
 * Loads the files of `--env-file` into `env`, and returns the other arguments. Runs before parsing, so that the option
 * may be at any position.
 */
function takeEnvFiles(args: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const rest: string[] = []
  for (let i = 0; i < args.length; i += 1) {
    if (args[i] === '--') return [...rest, ...args.slice(i)]
    const option = envFileOption.exec(args[i]!)
    if (!option) {
      rest.push(args[i]!)
      continue
    }
    if (option[1] === undefined) i += 1
    const path = option[1] ?? args[i]
    if (!path) throw new Error('--env-file: name a file')
    for (const [name, value] of Object.entries(readEnvFile(path))) if (!env[name]) env[name] = value
  }
  return rest
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`--env-file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  // Some editors write a byte order mark, which is accepted, or UTF-16, which is refused.
  if (/[\0\ufffd]/.test(text)) throw new Error(`--env-file: ${path} is not written in UTF-8: save it so`)
  return parseEnv(text.replace(/^\ufeff/, ''))
}

/** Builds a command. `called`: how people call it, such as `npm run keys --`. */
export function newProgram(terminal: Terminal, called: string): Command {
  const { out, err } = terminal
  return new CommandLine(called)
    .exitOverride()
    .option(envFileFlag, 'settings from this file (NAME=value); those of the environment win')
    .configureOutput({
      writeOut: (text) => void out.write(text),
      writeErr: (text) => void err.write(text),
      outputError: (text, write) => write(paint(err, 'red', text.trimEnd()).concat('\n')),
      getOutHelpWidth: () => Math.min(getWidth(out) ?? 100, 120),
      getErrHelpWidth: () => Math.min(getWidth(err) ?? 100, 120),
      // Painted text is already right for its stream.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      minWidthToWrap: 20,
      styleTitle: (text) => paint(out, 'bold', text),
      styleCommandText: (text) => paint(out, 'cyan', text),
      styleSubcommandText: (text) => paint(out, 'cyan', text),
      styleOptionText: (text) => paint(out, 'cyan', text),
      styleArgumentText: (text) => paint(out, 'cyan', text),
    })
}

/** Formats example calls, which are shown below a command's help. */
export function examples(terminal: Terminal, ...lines: string[]): string {
  return `\n${paint(terminal.out, 'bold', 'Examples:')}\n${lines.map((each) => `  ${each}`).join('\n')}`
}

/**
 * Runs a command line and returns its exit code. An error that a person can fix is one clear line on standard error and
 * 1; any other is printed in full.
 */
export async function runProgram(
  program: Program,
  args: readonly string[] = process.argv.slice(2),
  terminal: Terminal = processTerminal(),
): Promise<number> {
  try {
    const rest = takeEnvFiles(args, terminal.env)
    await program(terminal).parseAsync(rest, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const message = isReported(error)
      ? error.message
      : (describeFileError(error) ?? describeConnectionLoss(error))
    printLine(terminal.err, message === null ? inspect(error) : paint(terminal.err, 'red', message))
    return 1
  }
}

/** Ends a command with an exit code, after its output. */
export function exitWith(code: number): void {
  if (code !== 0) throw new CommanderError(code, 'exit', '')
}

/** Describes a failure of a file that the caller named; null for any other error. */
function describeFileError(error: unknown): string | null {
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException
  if (code === undefined || path === undefined || syscall === undefined) return null
  return `${path} cannot be used (${code}): ${fileErrors[code] ?? 'look at its disk'}`
}
const fileErrors: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not do this',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
}

const isReported = (error: unknown): error is Error =>
  isUserError(error) || (error instanceof Error && error.constructor === Error && !('code' in error))
