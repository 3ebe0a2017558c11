/**
 * `npm run new -- POST /path`: writes an operation, its test and its line of `surface.json`, and prints the remaining
 * steps.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { loadRegistry, operationId } from '#runtime/registry/registry'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'

const root = join(import.meta.dirname, '..')
/** The placeholder for a new operation's description; `npm run check` fails until somebody replaces it. */
export const placeholder = 'Say in one sentence what it does to whom.'
const verbs: Record<string, string> = {
  GET: 'get',
  POST: 'create',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
}

export const newOperationProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run new --')
    .description(
      'Writes a new operation file, its test and its line of test/registry/surface.json, then prints what is left to do. Route, ' +
        'documents, checks and assistant tools are built from the file.',
    )
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'without /v1, parameters as :name, such as /campaigns/:id/archive')
    .option(
      '--in <folder>',
      'section or module below operations/; default: where operations with the most similar path are',
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run new -- GET /reviews/greeting --in reviews/reviews',
        'npm run new -- POST /campaigns/:id/archive',
      ),
    )
    .action(async (method: string, path: string, options: { in?: string }) => {
      for (const each of await write(method.toUpperCase(), path, options.in)) printLine(terminal.out, each)
    })

const surface = 'test/registry/surface.json'

/** Returns the lines to print: the files, then the remaining steps. */
async function write(method: string, path: string, given?: string): Promise<string[]> {
  if (!verbs[method]) throw new Error(`${method}: one of ${Object.keys(verbs).join(', ')}`)
  if (!/^(\/(:[a-zA-Z]+|[a-z0-9][a-z0-9.-]*))+$/.test(path)) {
    throw new Error(`${path}: write it as /words/:parameter, in lower case`)
  }
  const registry = await loadRegistry()
  const id = operationId(method, path)
  const existing = registry.byId(id)
  if (existing) throw new Error(`${method} ${path} exists already: ${existing.file}`)
  const folder = given?.replace(/^operations\//, '').replace(/\/$/, '') ?? findFolder(registry, path)
  const [section] = folder.split('/')
  const neighbours = registry.operations.filter(({ file }) => file.startsWith(`operations/${section}/`))
  const inFolder = neighbours.filter(({ file }) => file.startsWith(`operations/${folder}/api/`))
  const nearest = inFolder[0] ?? neighbours[0]
  if (!nearest || !existsSync(join(root, 'operations', folder))) {
    throw new Error(
      `operations/${folder} is no section or module: name one of ${listFolders(registry).join(', ')}`,
    )
  }
  const words = path.split('/').filter((part) => part && !part.startsWith(':'))
  const ownWords = words.length > 1 && words[0] === section ? words.slice(1) : words
  const name = [verbs[method]!, ...ownWords].join('-').replaceAll('.', '-')
  const file = join(root, 'operations', folder, 'api', `${name}.ts`)
  const test = join(root, 'test/operations', folder, `${name}.test.ts`)
  for (const each of [file, test]) {
    if (existsSync(each)) throw new Error(`${relative(root, each)} exists: nothing was written`)
  }
  for (const each of [file, test]) await mkdir(dirname(each), { recursive: true })
  const { feature } = nearest.spec
  await writeFile(file, renderOperation(method, path, feature))
  await writeFile(test, renderTest(method, path, folder, name))
  await addToSurface({ id, method, path, section: nearest.section.title, feature })
  return [
    ...[file, test].map((each) => relative(root, each)),
    `${surface}: one line`,
    'Left to do: the description, scopes, input and answer, the handler, a test of its effects; a line of CHANGELOG.md.',
    'npm run dev serves it, npm run check checks it.',
  ]
}

const getFolder = ({ file }: LoadedOperation): string => dirname(dirname(file)).replace('operations/', '')

const listFolders = (registry: Registry): string[] => [...new Set(registry.operations.map(getFolder))].sort()

/** Finds the folder with the most operations among those that share the longest path prefix. */
function findFolder(registry: Registry, path: string): string {
  const parts = path.split('/')
  const countShared = ({ spec }: LoadedOperation): number => {
    const others = spec.path.split('/')
    const end = parts.findIndex((part, index) => part !== others[index])
    return end === -1 ? parts.length : end
  }
  const most = Math.max(...registry.operations.map(countShared))
  // The empty part before the first slash is always shared.
  if (most < 2) {
    throw new Error(
      `No operation has a path like ${path}: name its folder with --in, one of ${listFolders(registry).join(', ')}`,
    )
  }
  const nearest = registry.operations.filter((each) => countShared(each) === most)
  const folders = [...Map.groupBy(nearest, getFolder)].sort(([, one], [, other]) => other.length - one.length)
  return folders[0]![0]
}

interface SurfaceLine {
  id: string
  method: string
  path: string
  section: string
  feature: string | undefined
}

/** Adds the operation to `surface.json`, after the last line of its section. */
async function addToSurface({ id, method, path, section, feature }: SurfaceLine): Promise<void> {
  const isRead = method === 'GET'
  const fields = {
    ...{ id, method, path, section },
    scopes: [`platform:${isRead ? 'read' : 'write'}`],
    readOnly: isRead,
    success: method === 'DELETE' ? 204 : 200,
    feature: feature ?? null,
  }
  const written = `{${Object.entries(fields)
    .map(([key, value]) => `"${key}": ${JSON.stringify(value)}`)
    .join(', ')}}`
  const lines = (await readFile(join(root, surface), 'utf8')).split('\n')
  const last = lines.findLastIndex((each) => each.includes(`"section": ${JSON.stringify(section)}`))
  const isEnd = !lines[last]!.endsWith(',')
  if (isEnd) lines[last] += ','
  lines.splice(last + 1, 0, isEnd ? written : `${written},`)
  await writeFile(join(root, surface), lines.join('\n'))
}

function renderOperation(method: string, path: string, feature: string | undefined): string {
  const isRead = method === 'GET'
  const answer = method === 'DELETE' ? '{ status: 204 }' : '{ status: 200, body: object({ store: id }) }'
  const body = method === 'DELETE' ? 'async handler() {},' : 'handler: (ctx) => ({ store: ctx.store.id }),'
  const schema = method === 'DELETE' ? '' : "import { id, object } from '#runtime/schema'\n"
  return `import { operation } from '#runtime/operation'
${schema}
export default operation({
  method: '${method}',
  path: '${path}',
  description: '${placeholder}',
  scopes: ['platform:${isRead ? 'read' : 'write'}'],
  readOnly: ${isRead},${feature ? `\n  feature: '${feature}',` : ''}
  answer: ${answer},
  ${body}
})
`
}

function renderTest(method: string, path: string, folder: string, name: string): string {
  const variable = name.replace(/-([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
  const params = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, each]) => `${each}: 'some-id'`)
  const input = params.length > 0 ? `, { params: { ${params.join(', ')} } }` : ''
  return `import { expect, test } from 'vitest'
import ${variable} from '#operations/${folder}/api/${name}'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('${method} ${path} answers', async () => {
  const shop = await store(app)
  const { status } = await shop.call(${variable}${input})
  expect(status).toBe(${method === 'DELETE' ? 204 : 200})
})
`
}

if (import.meta.main) process.exitCode = await runProgram(newOperationProgram)
