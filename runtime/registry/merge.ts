/** Merges the extensions of all sections into all extension points, and validates them. */
import type { AnyExtensionPoint, MergedExtensions, ValidationContext } from '#runtime/extensions'
import type { Issue } from './checks.ts'
import type { LoadedExtensionPoints, LoadedExtensions } from './loaded.ts'

interface EntryRow {
  file: string
  key: string
  entry: unknown
}

/** Merges entries in the order of the sections. Invalid entries are returned as issues and left out. */
export function merge(
  extensionPoints: readonly LoadedExtensionPoints[],
  sectionExtensions: readonly LoadedExtensions[],
  known: Pick<ValidationContext, 'jobs' | 'features'>,
): { extensions: MergedExtensions; issues: Issue[] } {
  const issues: Issue[] = []
  const owners = new Map<string, string>()
  const extensions: Record<string, unknown> = {}
  for (const { file, declared } of extensionPoints) {
    for (const [name, point] of Object.entries(declared)) {
      const owner = owners.get(name)
      if (owner) {
        const remedy = 'give one of the two another name'
        issues.push({ file, wrong: `declares the extension point ${name}, as ${owner} does`, remedy })
        continue
      }
      owners.set(name, file)
      const rows = sectionExtensions.flatMap((each) => listEntries(each, name, point, issues))
      issues.push(...findEntryIssues(name, point, rows, known))
      extensions[name] = combineEntries(point, rows)
    }
  }
  for (const { file, given } of sectionExtensions) {
    for (const name of Object.keys(given)) {
      if (owners.has(name)) continue
      const remedy = `one of ${[...owners.keys()].sort().join(', ')}`
      issues.push({ file, wrong: `registers ${name}, but there is no such extension point`, remedy })
    }
  }
  return { extensions: Object.freeze(extensions) as MergedExtensions, issues }
}

const isLists = (value: unknown): value is Record<string, unknown[]> =>
  isRecord(value) && Object.values(value).every(Array.isArray)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The entries of one section for one extension point. */
function listEntries(
  { file, given }: LoadedExtensions,
  name: string,
  { mode }: AnyExtensionPoint,
  issues: Issue[],
): EntryRow[] {
  const value = (given as Record<string, unknown>)[name]
  if (!Object.hasOwn(given, name)) return []
  if (mode === 'single') return [{ file, key: '', entry: value }]
  if (mode === 'in-order' && Array.isArray(value)) {
    return value.map((entry, place) => ({ file, key: String(place), entry }))
  }
  if (mode === 'by-key' && isRecord(value)) {
    return Object.entries(value).map(([key, entry]) => ({ file, key, entry }))
  }
  if (mode === 'lists-by-key' && isLists(value)) {
    return Object.entries(value).flatMap(([key, list]) => list.map((entry) => ({ file, key, entry })))
  }
  const form = { 'by-key': '{ key: entry }', 'lists-by-key': '{ key: [entry] }', 'in-order': '[entry]' }[mode]
  issues.push({
    file,
    wrong: `${name} has not the form of its extension point`,
    remedy: `write ${name}: ${form}`,
  })
  return []
}

const toPath = (name: string, key: string): string => (key === '' ? name : `${name}.${key}`)

function findEntryIssues(
  name: string,
  { mode, validate }: AnyExtensionPoint,
  rows: readonly EntryRow[],
  known: Pick<ValidationContext, 'jobs' | 'features'>,
): Issue[] {
  const all = Object.fromEntries(rows.map(({ key, entry }) => [key, entry]))
  const isUnique = mode === 'by-key' || mode === 'single'
  const seen = new Map<string, string>()
  return rows.flatMap(({ file, key, entry }) => {
    const path = toPath(name, key)
    const first = isUnique ? seen.get(key) : undefined
    seen.set(key, file)
    if (first) {
      return [{ file, wrong: `registers ${path}, as ${first} does`, remedy: 'leave it to one of the two' }]
    }
    if (entry === undefined || entry === null) {
      return [{ file, wrong: `${path} is ${entry}`, remedy: 'correct its import' }]
    }
    const found = validate?.(entry as never, { key, all, ...known })
    return found ? [{ file, wrong: `${path} ${found.wrong}`, remedy: found.remedy }] : []
  })
}

function combineEntries({ mode }: AnyExtensionPoint, rows: readonly EntryRow[]): unknown {
  for (const { entry } of rows) Object.freeze(entry)
  if (mode === 'single') return rows[0]?.entry ?? null
  if (mode === 'in-order') return Object.freeze(rows.map(({ entry }) => entry))
  // Created without a prototype: a caller's text such as `constructor` may be looked up in it.
  const byKey: Record<string, unknown> = Object.create(null)
  if (mode === 'by-key') for (const { key, entry } of rows) byKey[key] ??= entry
  else {
    for (const [key, ofKey] of Map.groupBy(rows, (row) => row.key)) {
      byKey[key] = Object.freeze(ofKey.map(({ entry }) => entry))
    }
  }
  return Object.freeze(byKey)
}
