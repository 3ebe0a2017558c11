/** What the rules read in the syntax of files. */
import { createHash } from 'node:crypto'
import ts from 'typescript'

/** Syntax, for all rules that look at it at about the same time: it is let go when memory is wanted. */
const known = new Map<string, WeakRef<ts.SourceFile>>()

function sourceOf(file: string, code: string): ts.SourceFile {
  const before = known.get(file)?.deref()
  if (before?.text === code) return before
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true)
  known.set(file, new WeakRef(source))
  return source
}

/** By rule and file. */
export type Readings = Record<string, { of: string; found: unknown }>

interface Memory {
  /** Of the check before. */
  before: Readings
  /** Of this one: of files that are gone nothing is left. */
  now: Readings
}
let memory: Memory | null = null

/** From here on what was read before is taken from `before` where the file is as it was; answers all that is read. */
export function remember(before: Readings): Readings {
  memory = { before, now: {} }
  return memory.now
}

/**
 * What a rule reads in a file, whatever it makes of it then: to parse is most of what a check takes, and most files are
 * as they were the last time. `read` goes by the file alone, and what it answers is as JSON has it.
 */
export function reading<T>(rule: string, file: string, code: string, read: (source: ts.SourceFile) => T): T {
  if (!memory) return read(sourceOf(file, code))
  const { before, now } = memory
  const [name, of] = [`${rule} ${file}`, sumOf(code)]
  const last = before[name]
  const entry = last?.of === of ? last : { of, found: read(sourceOf(file, code)) }
  now[name] = entry
  return entry.found as T
}

export const sumOf = (text: string): string => createHash('sha256').update(text).digest('base64')
