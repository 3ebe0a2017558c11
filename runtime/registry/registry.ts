/**
 * Builds the registry: finds all operations, jobs, pages, sections and extensions by their folders, and checks, sorts
 * and freezes them.
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import runtimeExtensionPoints from '#runtime/extension-points'
import type { Extensions, SectionExtensionPoints } from '#runtime/extensions'
import type { Job } from '#runtime/job'
import { fanOut } from '#runtime/jobs/fan-out'
import type { Operation } from '#runtime/operation'
import type { Page } from '#runtime/page'
import type { Role } from '#runtime/roles'
import type { Section } from '#runtime/section'
import { findIssues, findSchemaIssues, type Issue } from './checks.ts'
import { operationsFolder } from './folder.ts'
import type { LoadedExtensionPoints, LoadedExtensions, LoadedOperation, Registry } from './loaded.ts'
import { merge } from './merge.ts'

/** An error that lists the issues of all files, each with its remedy. */
export class RegistryError extends Error {
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super(issues.map((issue) => `${issue.file}: ${issue.wrong} → ${issue.remedy}`).join('\n'))
    this.issues = issues
  }
}

/** The scope of the checks: everything, or only what a server needs before it answers requests. */
export type CheckScope = 'all' | 'to answer'

/** Loads the folder; throws all issues at once. */
export async function loadRegistry(folder = operationsFolder, looked: CheckScope = 'all'): Promise<Registry> {
  const { registry, issues } = await readRegistry(folder, looked)
  if (issues.length > 0) throw new RegistryError(issues)
  return registry
}

/** Loads the folder; returns the registry and the issues instead of throwing. */
export async function readRegistry(
  folder = operationsFolder,
  looked: CheckScope = 'all',
): Promise<{ registry: Registry; issues: Issue[] }> {
  const issues: Issue[] = []
  const files = findFiles(folder)
  const loaded: { path: string; file: string; value: unknown }[] = []
  const modules = await importAll(files)
  for (const [i, path] of files.entries()) {
    const file = relative(join(folder, '..'), path).split(sep).join('/')
    const module = modules[i]!
    if ('value' in module) loaded.push({ path, file, value: module.value })
    else issues.push({ file, wrong: `cannot be loaded (${module.error})`, remedy: 'correct the import' })
  }

  const sections = new Map<string, Section>()
  const jobs: { file: string; job: Job }[] = []
  const pages: Page[] = []
  const extensionPoints: LoadedExtensionPoints[] = [
    { file: 'runtime/extension-points.ts', declared: runtimeExtensionPoints.declared },
  ]
  const sectionExtensions: LoadedExtensions[] = []
  const operations: { file: string; folder: string; operation: Operation }[] = []
  for (const { path, file, value } of loaded) {
    const parts = relative(folder, path).split(sep)
    const expected = getKind(parts)
    const kind = (value as { kind?: string } | undefined)?.kind
    if (kind !== expected) {
      issues.push({
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
      if (job.extensions) sectionExtensions.push({ file, given: job.extensions })
    } else if (expected === 'page') pages.push(value as Page)
    else if (expected === 'extension-points')
      extensionPoints.push({ file, declared: (value as SectionExtensionPoints).declared })
    else if (expected === 'extensions') sectionExtensions.push({ file, given: (value as Extensions).given })
    else operations.push({ file, folder: parts[0]!, operation: value as Operation })
  }

  const complete: LoadedOperation[] = []
  for (const { file, folder: owner, operation } of operations) {
    const section = sections.get(owner)
    if (!section) {
      issues.push({ file, wrong: `its section ${owner} has no section.ts`, remedy: 'write one beside it' })
      continue
    }
    complete.push(loadOperation(file, section, operation))
  }
  issues.push(...findIssues(complete, jobs))
  if (looked === 'all') issues.push(...findSchemaIssues(complete))
  const allJobs = jobs.flatMap(({ job }) => [job, ...fanOut(job)])
  const merged = merge(extensionPoints, sectionExtensions, collectNames(allJobs, sectionExtensions))
  issues.push(...merged.issues)

  const inOrder = [...complete].sort(
    (a, b) =>
      a.section.position - b.section.position || getPosition(a) - getPosition(b) || (a.id < b.id ? -1 : 1),
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
    extensions: merged.extensions,
    extensionPoints: Object.freeze(extensionPoints),
    sectionExtensions: Object.freeze(sectionExtensions),
    byId: (id: string) => byId.get(id),
  })
  return { registry, issues: issues.sort((a, b) => (a.file < b.file ? -1 : 1)) }
}

/** A file's default export, or the error of its import. */
type Imported = { value: unknown } | { error: string }

/**
 * Imports the default exports of all files through one generated module. With a separate import per file, Node would
 * traverse all modules that are linked already each time, which took a third of a start and half of its memory. If the
 * generated module fails, each file is imported separately to find the broken one.
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

/** Returns the registry with other extensions, for apps in tests. Throws the issues of these extensions. */
export function withExtensions(registry: Registry, sectionExtensions: readonly LoadedExtensions[]): Registry {
  const { extensions, issues } = merge(
    registry.extensionPoints,
    sectionExtensions,
    collectNames(registry.jobs, sectionExtensions),
  )
  if (issues.length > 0) throw new RegistryError(issues)
  return Object.freeze({ ...registry, extensions, sectionExtensions })
}

const collectNames = (jobs: readonly Job[], sectionExtensions: readonly LoadedExtensions[]) => ({
  jobs: new Set(jobs.map(({ name }) => name)),
  features: new Set(sectionExtensions.flatMap(({ given }) => given.entitlement?.features ?? [])),
})

export function loadOperation(file: string, section: Section, { spec }: Operation): LoadedOperation {
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

const getPosition = (operation: LoadedOperation): number => {
  const index = operation.section.order.indexOf(operation.id)
  return index < 0 ? Number.MAX_SAFE_INTEGER : index
}

type Kind = 'section' | 'operation' | 'job' | 'page' | 'extension-points' | 'extensions' | 'logic'
const contracts: Readonly<Record<string, Kind>> = { api: 'operation', jobs: 'job', pages: 'page' }

function getKind(parts: string[]): Kind {
  const name = parts.at(-1)
  if (parts.length === 2 && name === 'section.ts') return 'section'
  if (parts.length === 2 && name === 'extension-points.ts') return 'extension-points'
  if (parts.length === 2 && name === 'extensions.ts') return 'extensions'
  return contracts[parts.at(-2) ?? ''] ?? 'logic'
}

function findFiles(folder: string): string[] {
  // One synchronous call: asynchronous calls per folder would each wait for the database that is being opened.
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => getKind(relative(folder, path).split(sep)) !== 'logic')
    .sort()
}
