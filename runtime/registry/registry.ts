/**
 * Finds every operation, job, page and section by folder, and what they are given by wirings; checks them all, sorts
 * and freezes them.
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Job } from '#runtime/job'
import { fanOut } from '#runtime/jobs/fan-out'
import type { Operation } from '#runtime/operation'
import type { Page } from '#runtime/page'
import ofRuntime from '#runtime/points'
import type { Role } from '#runtime/roles'
import type { Section } from '#runtime/section'
import type { PointsOfSection, Wiring } from '#runtime/wiring'
import { type Fault, faultsOf, schemaFaultsOf } from './checks.ts'
import { operationsFolder } from './folder.ts'
import type { LoadedOperation, LoadedPoints, LoadedWiring, Registry } from './loaded.ts'
import { merge } from './merge.ts'

/** Thrown with every fault of every file, each with its remedy. */
export class RegistryError extends Error {
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.file}: ${fault.wrong} → ${fault.remedy}`).join('\n'))
    this.faults = faults
  }
}

/** What of a registry is looked at: all, or what a server must know before it answers. */
export type Looked = 'all' | 'to answer'

/** Loads the folder and throws all its faults at once. */
export async function loadRegistry(folder = operationsFolder, looked: Looked = 'all'): Promise<Registry> {
  const { registry, faults } = await readRegistry(folder, looked)
  if (faults.length > 0) throw new RegistryError(faults)
  return registry
}

/** The same, answering the faults. */
export async function readRegistry(
  folder = operationsFolder,
  looked: Looked = 'all',
): Promise<{ registry: Registry; faults: Fault[] }> {
  const faults: Fault[] = []
  const files = findFiles(folder)
  const loaded: { path: string; file: string; value: unknown }[] = []
  const modules = await importAll(files)
  for (const [i, path] of files.entries()) {
    const file = relative(join(folder, '..'), path).split(sep).join('/')
    const module = modules[i]!
    if ('value' in module) loaded.push({ path, file, value: module.value })
    else faults.push({ file, wrong: `cannot be loaded (${module.error})`, remedy: 'mend the import' })
  }

  const sections = new Map<string, Section>()
  const jobs: { file: string; job: Job }[] = []
  const pages: Page[] = []
  const points: LoadedPoints[] = [{ file: 'runtime/points.ts', declared: ofRuntime.declared }]
  const wirings: LoadedWiring[] = []
  const operations: { file: string; folder: string; operation: Operation }[] = []
  for (const { path, file, value } of loaded) {
    const parts = relative(folder, path).split(sep)
    const expected = kindOf(parts)
    const kind = (value as { kind?: string } | undefined)?.kind
    if (kind !== expected) {
      faults.push({
        file,
        wrong: value === undefined ? 'has no default export' : `its default export is no ${expected}`,
        remedy: `write \`export default ${expected}({…})\`, or move what is no ${expected} beside ${basename(dirname(path))}/`,
      })
      continue
    }
    if (expected === 'section') sections.set(parts[0]!, value as Section)
    else if (expected === 'job') {
      const job = value as Job
      jobs.push({ file, job })
      if (job.wires) wirings.push({ file, given: job.wires })
    } else if (expected === 'page') pages.push(value as Page)
    else if (expected === 'points') points.push({ file, declared: (value as PointsOfSection).declared })
    else if (expected === 'wiring') wirings.push({ file, given: (value as Wiring).given })
    else operations.push({ file, folder: parts[0]!, operation: value as Operation })
  }

  const complete: LoadedOperation[] = []
  for (const { file, folder: owner, operation } of operations) {
    const section = sections.get(owner)
    if (!section) {
      faults.push({ file, wrong: `its section ${owner} has no section.ts`, remedy: 'write one beside it' })
      continue
    }
    complete.push(loadedOperation(file, section, operation))
  }
  faults.push(...faultsOf(complete, jobs))
  if (looked === 'all') faults.push(...schemaFaultsOf(complete))
  const allJobs = jobs.flatMap(({ job }) => [job, ...fanOut(job)])
  const merged = merge(points, wirings, namesOf(allJobs, wirings))
  faults.push(...merged.faults)

  const inOrder = [...complete].sort(
    (a, b) => a.section.position - b.section.position || place(a) - place(b) || (a.id < b.id ? -1 : 1),
  )
  const byId = new Map(inOrder.map((operation) => [operation.id, operation]))
  const registry: Registry = Object.freeze({
    operations: Object.freeze(inOrder),
    jobs: Object.freeze(allJobs.sort((a, b) => (a.name < b.name ? -1 : 1))),
    pages: Object.freeze(pages),
    sections: Object.freeze(
      [...sections.values()]
        .filter((section) => complete.some((operation) => operation.section === section))
        .sort((a, b) => a.position - b.position),
    ),
    wired: merged.wired,
    points: Object.freeze(points),
    wirings: Object.freeze(wirings),
    byId: (id: string) => byId.get(id),
  })
  return { registry, faults: faults.sort((a, b) => (a.file < b.file ? -1 : 1)) }
}

/** What a file exports by default, or what is wrong with it. */
type Imported = { value: unknown } | { error: string }

/**
 * The default exports, by one module that imports them all: for each import of its own Node walks anew all that is
 * linked already, which took a third of a start and half again of its memory. Where one cannot be loaded, which is told
 * by importing each by itself.
 */
async function importAll(paths: readonly string[]): Promise<Imported[]> {
  const urls = paths.map((path) => pathToFileURL(path).href)
  const imports = urls.map((url, i) => `import * as m${i} from ${JSON.stringify(url)}`)
  const text = [...imports, `export default [${urls.map((_, i) => `m${i}.default`).join(',')}]`].join('\n')
  try {
    const all: { default: unknown[] } = await import(`data:text/javascript,${encodeURIComponent(text)}`)
    return all.default.map((value) => ({ value }))
  } catch {
    const each: Imported[] = []
    for (const url of urls) {
      try {
        each.push({ value: ((await import(url)) as { default?: unknown }).default })
      } catch (error) {
        each.push({ error: error instanceof Error ? error.message : String(error) })
      }
    }
    return each
  }
}

/** The same with other wirings: an app of a test has its own. Throws their faults. */
export function rewired(registry: Registry, wirings: readonly LoadedWiring[]): Registry {
  const { wired, faults } = merge(registry.points, wirings, namesOf(registry.jobs, wirings))
  if (faults.length > 0) throw new RegistryError(faults)
  return Object.freeze({ ...registry, wired, wirings })
}

const namesOf = (jobs: readonly Job[], wirings: readonly LoadedWiring[]) => ({
  jobs: new Set(jobs.map(({ name }) => name)),
  features: new Set(wirings.flatMap(({ given }) => given.entitlement?.features ?? [])),
})

export function loadedOperation(file: string, section: Section, { spec }: Operation): LoadedOperation {
  const parameters = (spec.path ?? '').split('/').filter((part) => part.startsWith(':'))
  return Object.freeze({
    id: operationId(spec.method, spec.path ?? ''),
    file,
    section,
    spec: Object.freeze(spec),
    minimumRole: spec.minimumRole ?? defaultRole(spec),
    parameters: Object.freeze(parameters.map((part) => part.slice(1))),
  })
}

function defaultRole(spec: Operation['spec']): Role {
  if (spec.scopes?.some((scope) => scope === 'team:write' || scope === 'billing:write')) return 'owner'
  return spec.readOnly ? 'agent' : 'member'
}

/** `DELETE /stores/team/members/:userId` → `delete_stores_team_members_by_userId`. */
export function operationId(method: string, path: string): string {
  const segments = path
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? `by_${part.slice(1)}` : part.replace(/[^A-Za-z0-9]/g, '_')))
  return [String(method).toLowerCase(), ...segments].join('_')
}

const place = (operation: LoadedOperation): number => {
  const index = operation.section.order.indexOf(operation.id)
  return index < 0 ? Number.MAX_SAFE_INTEGER : index
}

type Kind = 'section' | 'operation' | 'job' | 'page' | 'points' | 'wiring' | 'logic'
const contracts: Readonly<Record<string, Kind>> = { api: 'operation', jobs: 'job', pages: 'page' }

function kindOf(parts: string[]): Kind {
  const name = parts.at(-1)
  if (parts.length === 2 && name === 'section.ts') return 'section'
  if (parts.length === 2 && name === 'points.ts') return 'points'
  if (parts.length === 2 && name === 'wiring.ts') return 'wiring'
  return contracts[parts.at(-2) ?? ''] ?? 'logic'
}

function findFiles(folder: string): string[] {
  // All at once: folder by folder each would wait for its turn beside the database's opening.
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => kindOf(relative(folder, path).split(sep)) !== 'logic')
    .sort()
}
