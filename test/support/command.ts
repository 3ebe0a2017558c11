/** Runs command lines in the test's own process, with captured output. */
import { Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { type Program, runProgram } from '#scripts/cli/program'
import type { Output } from '#scripts/cli/terminal'

export interface Ran {
  code: number
  out: string
  err: string
}

export interface FakeOutput {
  output: Output
  /** Everything written so far. */
  text(): string
}

/** A pipe; with `columns`, a colour terminal of that width. */
export function fakeOutput(columns?: number): FakeOutput {
  let text = ''
  const pipe = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const terminal = { isTTY: true, columns, getColorDepth: () => colourDepth() }
  return { output: columns === undefined ? pipe : Object.assign(pipe, terminal), text: () => text }
}

/** Colour depth of a 256-colour terminal: respects NO_COLOR and similar variables, but not `CI` or `TERM`. */
const colourDepth = (): number => {
  const { NO_COLOR, FORCE_COLOR, NODE_DISABLE_COLORS } = process.env
  const wishes = { NO_COLOR, FORCE_COLOR, NODE_DISABLE_COLORS }
  const set = Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined))
  return WriteStream.prototype.getColorDepth.call(process.stdout, { TERM: 'xterm-256color', ...set })
}

/** Runs a command line as `npm run` would, on a pipe or in a terminal of `columns`. */
export async function run(
  program: Program,
  args: readonly string[],
  { env = {}, columns }: { env?: NodeJS.ProcessEnv; columns?: number } = {},
): Promise<Ran> {
  const [out, err] = [fakeOutput(columns), fakeOutput(columns)]
  const code = await runProgram(program, args, { out: out.output, err: err.output, env })
  return { code, out: out.text(), err: err.text() }
}
