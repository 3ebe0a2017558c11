/** Options shared by several commands; an invalid value is reported in one line. */

import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { isRealMoment, offsetInstantPattern } from '#runtime/values/days'

/** An expiry: a number of days from now (`90d`), or an instant. */
export type Expiry = { days: number } | { at: Date }

export const storeOption = (): Option =>
  new Option('--store <store>', 'id, slug or domain of the store').makeOptionMandatory()
export const jsonOption = (): Option => new Option('--json', 'one line of JSON instead')

/** Parses `90d` or an instant with its zone. */
export function parseExpiry(text: string): Expiry {
  if (/^[1-9]\d{0,4}d$/.test(text)) return { days: Number(text.slice(0, -1)) }
  const example = 'Write 90d, or an instant such as 2027-01-31T00:00:00Z.'
  if (!offsetInstantPattern.test(text)) throw new InvalidArgumentError(example)
  if (!isRealMoment(text)) throw new InvalidArgumentError(`There is no such day and time. ${example}`)
  return { at: new Date(text) }
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

/** Parses the path of a file to write: its folder must be there, so that no work is lost at the end. */
export function parseOutputFile(path: string): string {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new InvalidArgumentError(`There is no folder ${folder}: make it first.`)
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new InvalidArgumentError('It is a folder: name a file in it.')
  }
  return path
}

/** Reads the JSON object in a file; an error names the option. */
export async function readJsonFile(option: string, path: string): Promise<object> {
  let value: unknown
  try {
    value = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? 'is not valid JSON'
        : `cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw refuse('bad_request', `${option}: ${path} ${why}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw refuse('bad_request', `${option}: ${path} must hold an object, such as {"name": "value"}`)
}
