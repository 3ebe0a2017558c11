/** Who may import whom: the rules of the tree, checked on the files' own text. */
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative, sep } from 'node:path'
import type { Fault } from '#runtime/registry/checks'

const layers: Record<string, readonly string[]> = {
  db: ['db'],
  runtime: ['runtime', 'db'],
  operations: ['operations', 'runtime', 'db'],
}
const statement =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g

/** The faults of every file below db/, runtime/ and operations/ of a project's root. */
export async function importFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  const doors = new Map<string, Set<string>>()
  for (const layer of Object.keys(layers)) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const file = relative(root, path).split(sep).join('/')
      const code = await readFile(path, 'utf8')
      for (const [, from, bare] of code.matchAll(statement)) {
        const target = resolve(file, (from ?? bare)!)
        if (target === null) continue
        const fault = faultOf(file, target)
        if (fault) faults.push({ file, ...fault })
        noteDoor(doors, file, target)
      }
    }
  }
  for (const cycle of cycles(doors)) {
    faults.push({
      file: `operations/${cycle[0]}/door.ts`,
      wrong: `sections import each other in a circle: ${cycle.join(' → ')}`,
      remedy: 'let one of them wire to a point of the other (its wiring.ts, and their points.ts)',
    })
  }
  return faults
}

/** A project path (`operations/store/door.ts`), or null for a package. */
function resolve(file: string, specifier: string): string | null {
  const local = /^#(runtime|db|operations|scripts|test)\/(.+)$/.exec(specifier)
  if (local) return `${local[1]}/${local[2]}.ts`
  if (!specifier.startsWith('.')) return null
  return normalize(join(dirname(file), specifier))
    .split(sep)
    .join('/')
}

function faultOf(file: string, target: string): Omit<Fault, 'file'> | null {
  const [layer] = file.split('/') as [string]
  const [targetLayer] = target.split('/') as [string]
  if (!layers[layer]!.includes(targetLayer)) {
    return {
      wrong: `${layer} imports ${target}`,
      remedy: `${layer} may import ${layers[layer]!.join(' and ')} only`,
    }
  }
  if (layer !== 'operations' || targetLayer !== 'operations') return null
  const section = file.split('/')[1]
  const other = target.split('/')[1]
  if (section !== other) {
    if (target === `operations/${other}/door.ts`) return null
    return { wrong: `imports ${target}`, remedy: `go through operations/${other}/door.ts` }
  }
  const kind = kindOf(target)
  if (kindOf(file) === 'logic' && kind !== 'logic') {
    return {
      wrong: `logic imports the ${kind} ${target}`,
      remedy: "queue a job by its name: ctx.queue('name', …)",
    }
  }
  if (kind === 'operation')
    return { wrong: `imports the operation ${target}`, remedy: 'move what both need beside api/' }
  return null
}

function kindOf(path: string): 'logic' | 'job' | 'page' | 'section' | 'points' | 'wiring' | 'operation' {
  const parts = path.split('/')
  const folder = parts.at(-2)
  if (folder === 'jobs') return 'job'
  if (folder === 'pages') return 'page'
  if (folder === 'api') return 'operation'
  if (parts.length === 3 && parts[2] === 'section.ts') return 'section'
  if (parts.length === 3 && parts[2] === 'points.ts') return 'points'
  if (parts.length === 3 && parts[2] === 'wiring.ts') return 'wiring'
  return 'logic'
}

function noteDoor(doors: Map<string, Set<string>>, file: string, target: string): void {
  const from = /^operations\/([^/]+)\//.exec(file)?.[1]
  const to = /^operations\/([^/]+)\/door\.ts$/.exec(target)?.[1]
  if (!from || !to || from === to) return
  doors.set(from, (doors.get(from) ?? new Set()).add(to))
}

function cycles(edges: Map<string, Set<string>>): string[][] {
  const found: string[][] = []
  const seen = new Set<string>()
  const walk = (at: string, path: string[]): void => {
    const before = path.indexOf(at)
    if (before >= 0) {
      found.push([...path.slice(before), at])
      return
    }
    if (seen.has(at)) return
    for (const next of edges.get(at) ?? []) walk(next, [...path, at])
    seen.add(at)
  }
  for (const section of edges.keys()) walk(section, [])
  return found
}

export async function typescriptFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
