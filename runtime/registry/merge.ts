/** Puts together what all wirings give to all points, and finds what does not fit. */
import type { AnyPoint, Known, Wired } from '#runtime/wiring'
import type { Fault } from './checks.ts'
import type { LoadedPoints, LoadedWiring } from './loaded.ts'

interface Row {
  file: string
  key: string
  entry: unknown
}

/** In the order of the wirings. What is at fault is told, and left out. */
export function merge(
  points: readonly LoadedPoints[],
  wirings: readonly LoadedWiring[],
  known: Pick<Known, 'jobs' | 'features'>,
): { wired: Wired; faults: Fault[] } {
  const faults: Fault[] = []
  const owners = new Map<string, string>()
  const wired: Record<string, unknown> = {}
  for (const { file, declared } of points) {
    for (const [name, point] of Object.entries(declared)) {
      const owner = owners.get(name)
      if (owner) {
        const remedy = 'give one of the two another name'
        faults.push({ file, wrong: `declares the point ${name}, which ${owner} has`, remedy })
        continue
      }
      owners.set(name, file)
      const rows = wirings.flatMap((each) => rowsOf(each, name, point, faults))
      faults.push(...faultsOfRows(name, point, rows, known))
      wired[name] = together(point, rows)
    }
  }
  for (const { file, given } of wirings) {
    for (const name of Object.keys(given)) {
      if (owners.has(name)) continue
      const remedy = `one of ${[...owners.keys()].sort().join(', ')}`
      faults.push({ file, wrong: `wires ${name}, and there is no such point`, remedy })
    }
  }
  return { wired: Object.freeze(wired) as Wired, faults }
}

const isLists = (value: unknown): value is Record<string, unknown[]> =>
  isRecord(value) && Object.values(value).every(Array.isArray)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What one wiring gives to a point. */
function rowsOf({ file, given }: LoadedWiring, name: string, { how }: AnyPoint, faults: Fault[]): Row[] {
  const value = (given as Record<string, unknown>)[name]
  if (!Object.hasOwn(given, name)) return []
  if (how === 'single') return [{ file, key: '', entry: value }]
  if (how === 'in-order' && Array.isArray(value)) {
    return value.map((entry, place) => ({ file, key: String(place), entry }))
  }
  if (how === 'by-key' && isRecord(value)) {
    return Object.entries(value).map(([key, entry]) => ({ file, key, entry }))
  }
  if (how === 'lists-by-key' && isLists(value)) {
    return Object.entries(value).flatMap(([key, list]) => list.map((entry) => ({ file, key, entry })))
  }
  const form = { 'by-key': '{ key: entry }', 'lists-by-key': '{ key: [entry] }', 'in-order': '[entry]' }[how]
  faults.push({ file, wrong: `${name} is not of its point's form`, remedy: `write ${name}: ${form}` })
  return []
}

const pathOf = (name: string, key: string): string => (key === '' ? name : `${name}.${key}`)

function faultsOfRows(
  name: string,
  { how, faultOf }: AnyPoint,
  rows: readonly Row[],
  known: Pick<Known, 'jobs' | 'features'>,
): Fault[] {
  const all = Object.fromEntries(rows.map(({ key, entry }) => [key, entry]))
  const isUnique = how === 'by-key' || how === 'single'
  const seen = new Map<string, string>()
  return rows.flatMap(({ file, key, entry }) => {
    const path = pathOf(name, key)
    const first = isUnique ? seen.get(key) : undefined
    seen.set(key, file)
    if (first) {
      return [
        { file, wrong: `wires ${path}, which ${first} has wired`, remedy: 'leave it to one of the two' },
      ]
    }
    if (entry === undefined || entry === null) {
      return [{ file, wrong: `${path} is ${entry}`, remedy: 'mend what it is imported from' }]
    }
    const found = faultOf?.(entry as never, { key, all, ...known })
    return found ? [{ file, wrong: `${path} ${found.wrong}`, remedy: found.remedy }] : []
  })
}

function together({ how }: AnyPoint, rows: readonly Row[]): unknown {
  for (const { entry } of rows) Object.freeze(entry)
  if (how === 'single') return rows[0]?.entry ?? null
  if (how === 'in-order') return Object.freeze(rows.map(({ entry }) => entry))
  // Without a prototype: a key may come from a caller.
  const byKey: Record<string, unknown> = Object.create(null)
  if (how === 'by-key') for (const { key, entry } of rows) byKey[key] ??= entry
  else {
    for (const [key, ofKey] of Map.groupBy(rows, (row) => row.key)) {
      byKey[key] = Object.freeze(ofKey.map(({ entry }) => entry))
    }
  }
  return Object.freeze(byKey)
}
