/** Options that several commands take, read so that a wrong one is told in one line. */
import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { refuse } from '#runtime/errors'

/** `90d`: from now; or the instant itself. */
export type Expiry = { days: number } | { at: Date }

export const storeOption = (): Option =>
  new Option('--store <store>', 'id, slug or domain of the store').makeOptionMandatory()
export const jsonOption = (): Option => new Option('--json', 'one line of JSON')

/** Reads `90d` or an instant with its zone. */
export function expiry(text: string): Expiry {
  if (/^\d{1,5}d$/.test(text)) return { days: Number(text.slice(0, -1)) }
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const at = new Date(isInstant ? text : Number.NaN)
  if (Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError('Write 90d, or an instant such as 2027-01-31T00:00:00Z.')
  }
  return { at }
}

const dayMs = 24 * 3_600_000
export const expiresAt = (given: Expiry | undefined, now: Date): Date | null => {
  if (!given) return null
  return 'at' in given ? given.at : new Date(now.getTime() + given.days * dayMs)
}

/** The JSON value in a file; refused by the option's name when it is none. */
export async function jsonFile(option: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'
    throw refuse('bad_request', `${option}: ${path} ${why}`)
  }
}

/** Runs the program; without a command it says in one line what there is. */
export async function runProgram(program: Command): Promise<void> {
  const names = program.commands.map((command) => command.name())
  if (process.argv.length <= 2)
    program.error(`error: name a command: ${names.join(', ')} (--help tells more)`)
  await program.parseAsync()
}
