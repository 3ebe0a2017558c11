/** Options shared by several commands; an invalid value is reported in one line. */

import { readFile } from 'node:fs/promises'
import { InvalidArgumentError, Option } from 'commander'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'

/** An expiry: a number of days from now (`90d`), or an instant. */
export type Expiry = { days: number } | { at: Date }

export const storeOption = (): Option =>
  new Option('--store <store>', 'id, slug or domain of the store').makeOptionMandatory()
export const jsonOption = (): Option => new Option('--json', 'one line of JSON instead')

/** Parses `90d` or an instant with its zone. */
export function parseExpiry(text: string): Expiry {
  if (/^\d{1,5}d$/.test(text)) return { days: Number(text.slice(0, -1)) }
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const at = new Date(isInstant ? text : Number.NaN)
  if (Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError('Write 90d, or an instant such as 2027-01-31T00:00:00Z.')
  }
  return { at }
}

export const toExpiryDate = (given: Expiry | undefined, now: Date): Date | null => {
  if (!given) return null
  return 'at' in given ? given.at : new Date(now.getTime() + given.days * dayMs)
}

/** Builds a parser of whole numbers, such as a number of rows. */
export const parseWholeFrom =
  (least: number, most?: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= (most ?? value)) return value
    const to = most === undefined ? '' : ` to ${most}`
    throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`)
  }

/** Parses a number of seconds, which may have decimals. */
export function parseSeconds(text: string): number {
  const value = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw new InvalidArgumentError('It must be a number of seconds, such as 60 or 0.5.')
}

/** `--only`: some of the names, separated by commas. */
export const onlyOption = (known: readonly string[]): Option =>
  new Option('--only <names>', `some of ${known.join(', ')}, separated by commas`)
    .default(known, 'all')
    .argParser((text) =>
      text.split(',').map((given) => {
        const name = given.trim()
        if (!known.includes(name)) throw new InvalidArgumentError(`It must name some of ${known.join(', ')}.`)
        return name
      }),
    )

/** Reads the JSON value in a file; an error names the option. */
export async function readJsonFile(option: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'
    throw refuse('bad_request', `${option}: ${path} ${why}`)
  }
}
