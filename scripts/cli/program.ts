/** A command line: how it is described, run and refused; the same in a process of its own and in a test. */
import { readFileSync } from 'node:fs'
import { inspect, parseEnv } from 'node:util'
import { Command, CommanderError, type HelpContext } from 'commander'
import { isMendable } from '#runtime/server/mendable'
import { whyLost } from '#runtime/server/sentences'
import { line, paint, processTerminal, type Terminal, widthOf } from './terminal.ts'

/** Builds the command anew for each run: commander keeps what it has read. */
export type Program = (terminal: Terminal) => Command

/** Without the name of a command it is not its whole help that is told, but what there is to name. */
class Line extends Command {
  override createCommand(name?: string): Command {
    return new Line(name)
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context !== 'object' || !context.error) return super.help()
    const names = this.commands.map((each) => each.name()).join(', ')
    return this.error(`error: name a command: ${names} (--help tells more)`)
  }
}

const envFileFlag = '--env-file <file>'
const envFileOption = /^--env-file(?:=(.*))?$/s

/** Taken before anything is read, wherever on the line it stands: commands of commands take it alike. Answers the rest. */
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
  // As editors of other systems write: a mark in front, or two bytes a letter.
  if (/[\0\ufffd]/.test(text)) throw new Error(`--env-file: ${path} is not written in UTF-8: save it so`)
  return parseEnv(text.replace(/^\ufeff/, ''))
}

/** `called` is what a person types (`npm run keys --`). */
export function newProgram(terminal: Terminal, called: string): Command {
  const { out, err } = terminal
  return new Line(called)
    .exitOverride()
    .option(envFileFlag, 'settings from this file (NAME=value); those of the environment win')
    .configureOutput({
      writeOut: (text) => void out.write(text),
      writeErr: (text) => void err.write(text),
      outputError: (text, write) => write(paint(err, 'red', text.trimEnd()).concat('\n')),
      getOutHelpWidth: () => Math.min(widthOf(out) ?? 100, 120),
      getErrHelpWidth: () => Math.min(widthOf(err) ?? 100, 120),
      // What is painted is painted for its stream already.
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

/** Lines to copy, below a command's help. */
export function examples(terminal: Terminal, ...lines: string[]): string {
  return `\n${paint(terminal.out, 'bold', 'Examples:')}\n${lines.map((each) => `  ${each}`).join('\n')}`
}

/**
 * Runs a command line and answers its exit code. What a person can mend is one clear line on standard error and 1;
 * what they cannot, the whole error.
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
    const message = isPlain(error) ? error.message : whyLost(error)
    line(terminal.err, message === null ? inspect(error) : paint(terminal.err, 'red', message))
    return 1
  }
}

/** Ends a command with an exit code, once all is told. */
export function exitWith(code: number): void {
  if (code !== 0) throw new CommanderError(code, 'exit', '')
}

const isPlain = (error: unknown): error is Error =>
  isMendable(error) || (error instanceof Error && error.constructor === Error && !('code' in error))
