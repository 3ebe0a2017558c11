/** Who may import whom, and that it never comes back: the rules of the tree, checked on the files' own text. */
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative, sep } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { addEdge, circlesOf, type Graph } from './circles.ts'

const layers: Record<string, readonly string[]> = {
  db: ['db'],
  runtime: ['runtime', 'db'],
  operations: ['operations', 'runtime', 'db'],
  scripts: ['scripts', 'test', 'operations', 'runtime', 'db'],
}
const statement =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g

/** The faults of every file below db/, runtime/, operations/ and scripts/ of a project's root. */
export async function importFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  const files = new Map<string, Set<string>>()
  const deployed = await packagesOf(root)
  for (const layer of Object.keys(layers)) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const file = relative(root, path).split(sep).join('/')
      const code = readFileSync(path, 'utf8')
      if (deployed && !isForDevelopers(file)) {
        for (const name of packagesIn(code)) {
          if (!deployed.has(name)) faults.push({ file, ...notDeployed(name) })
        }
      }
      for (const [, from, bare] of code.matchAll(statement)) {
        const target = resolve(file, (from ?? bare)!)
        if (target === null) continue
        const fault = faultOf(file, target)
        if (fault) faults.push({ file, ...fault })
        if (target !== file) addEdge(files, file, target)
      }
    }
  }
  return [...faults, ...fileCircles(files), ...roomCircles(files), ...doorCircles(files)]
}

/** What `npm ci --omit=dev` brings, by name; null where nothing says so. */
async function packagesOf(root: string): Promise<ReadonlySet<string> | null> {
  const file = join(root, 'package.json')
  return existsSync(file) ? new Set(Object.keys(JSON.parse(await readFile(file, 'utf8')).dependencies)) : null
}

/** What no server or command of an operator's runs. */
const isForDevelopers = (file: string): boolean =>
  /^scripts\/(?:bench|checks)\/|^scripts\/(?:bench|check|new|with-[a-z]+)\.ts$/.test(file)

/** Those that are imported, at the beginning or when they are needed. */
const packagesIn = (code: string): Set<string> =>
  new Set(
    [...code.matchAll(statement), ...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].flatMap(
      ([, from, bare]) => {
        const specifier = (from ?? bare)!
        return /^(?:[.#]|node:)/.test(specifier) ? [] : [/^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0]]
      },
    ),
  )

const notDeployed = (name: string): Omit<Fault, 'file'> => ({
  wrong: `imports ${name}, which a server that is installed without devDependencies does not have`,
  remedy: 'put it among the dependencies of package.json',
})

/** Types count: who reads one of the files has to read them all. */
const fileCircles = (files: Graph): Fault[] =>
  circlesOf(files).map((way) => ({
    file: way[0]!,
    wrong: `files import each other in a circle: ${way.join(' → ')}`,
    remedy: 'put what both need, often a type, into a file of its own that imports neither',
  }))

/** The rooms of a section, its root being one of them. */
function roomCircles(files: Graph): Fault[] {
  const rooms = new Map<string, Set<string>>()
  const firsts = new Map<string, string>()
  for (const [file, targets] of files) {
    const from = roomOf(file)
    for (const target of targets) {
      const to = roomOf(target)
      if (!from || !to || from === to || sectionOf(from) !== sectionOf(to)) continue
      addEdge(rooms, from, to)
      const arrow = `${from} → ${to}`
      firsts.set(arrow, firsts.get(arrow) ?? `${file} → ${target}`)
    }
  }
  return circlesOf(rooms).map((way) => ({
    file: way[0]!,
    wrong: `rooms import each other in a circle: ${way
      .slice(1)
      .map((to, i) => firsts.get(`${way[i]} → ${to}`))
      .join(', ')}`,
    remedy: "put what both need at the section's root, or hand it over as an argument",
  }))
}

/** What binds a section to the others is of no room. */
const binding: readonly string[] = ['section.ts', 'wiring.ts', 'points.ts', 'environment.ts', 'door.ts']
const sectionOf = (path: string): string => path.split('/')[1]!

function roomOf(file: string): string | null {
  const parts = file.split('/')
  if (parts[0] !== 'operations') return null
  if (parts.length === 3 && binding.includes(parts[2]!)) return null
  const isContract = kindOf(file) !== 'logic'
  return parts.slice(0, isContract ? -2 : -1).join('/')
}

function doorCircles(files: Graph): Fault[] {
  const sections = new Map<string, Set<string>>()
  for (const [file, targets] of files) {
    const from = /^operations\/([^/]+)\//.exec(file)?.[1]
    for (const target of targets) {
      const to = /^operations\/([^/]+)\/door\.ts$/.exec(target)?.[1]
      if (from && to && from !== to) addEdge(sections, from, to)
    }
  }
  return circlesOf(sections).map((way) => ({
    file: `operations/${way[0]}/door.ts`,
    wrong: `sections import each other in a circle: ${way.join(' → ')}`,
    remedy: 'let one of them wire to a point of the other (its wiring.ts, and their points.ts)',
  }))
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
      remedy: 'queue a job by its handle, which lies beside the logic: ctx.queue(inboxSend, …)',
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

export const typescriptFiles = (folder: string): Promise<string[]> => filesEnding(folder, /\.ts$/)

export async function filesEnding(folder: string, ending: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
