/**
 * Translates addresses of files at the database: statements store `files://` with the file's key, and results get the
 * server's current address. So the address may change, and a backup can be restored at another one.
 */

/** The prefix of a file in a row. The key of the file follows, which begins with the id of its store. */
export const storedBase = 'files://'

/** As saved in `server_settings`. A database that is older than the translation begins names with an address. */
export interface Bases {
  stored: string
  /** All addresses at which files were, the current one included. */
  used: string[]
}

type Translate = (text: string) => string

/** The translation of one database. Changes nothing until the addresses are known, so a copy of rows is exact. */
export class FileAddresses {
  toStored: Translate = (text) => text
  /** Translates stored names and earlier addresses, also those in JSON whose slashes are escaped. */
  toCurrent: Translate = (text) => text

  set({ stored, used }: Bases, current: string): void {
    const earlier = used.filter((base) => base !== current)
    this.toStored = replaceBases([current, ...earlier], stored)
    this.toCurrent = replaceBases(
      [stored, ...earlier].flatMap((base) => [base, base.replaceAll('/', '\\/')]),
      current,
    )
  }

  /** A parameter of a statement: a text, or a list of texts and values that become JSON. */
  readonly parameter = <Value>(value: Value): Value => {
    if (typeof value === 'string') return this.toStored(value) as Value
    if (!Array.isArray(value)) return value
    return value.map((each) =>
      typeof each === 'object' && each !== null
        ? JSON.parse(this.toStored(JSON.stringify(each)))
        : this.parameter(each),
    ) as Value
  }
}

/** A file's key begins with the id of its store: any other address below a base is not that of a file. */
const beginsKey = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[\\/]/
const lengthOfBeginning = 37

function replaceBases(bases: readonly string[], by: string): Translate {
  const others = bases.filter((base) => base !== by)
  return (text) => {
    let result = text
    for (const base of others) {
      if (!result.includes(base)) continue
      result = result.replaceAll(base, (found, at: number) =>
        beginsKey.test(result.slice(at + base.length, at + base.length + lengthOfBeginning)) ? by : found,
      )
    }
    return result
  }
}
