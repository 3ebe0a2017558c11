/** `npm run new -- POST /path`: writes an operation and its test, ready to fill in; `check` says what is left to write. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import { loadRegistry, operationId } from '#runtime/registry/registry'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'

const root = join(import.meta.dirname, '..')
/** What a new operation says of itself until somebody writes it; `npm run check` asks for it. */
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
      'Writes a new operation file and its test, ready to fill in. The file is all it takes: route, documents, guards ' +
        'and tools are made from it. The test passes as it is; `npm run check` then asks for what only you can say.',
    )
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'without /v1, parameters as :name, such as /campaigns/:id/archive')
    .option('--section <folder>', 'folder below operations/; without it the first word of the path')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run new -- GET /notifications/greeting',
        'npm run new -- POST /reviews/:id/translate --section reviews',
      ),
    )
    .action(async (method: string, path: string, { section }: { section?: string }) => {
      for (const file of await write(method.toUpperCase(), path, section)) line(terminal.out, file)
    })

/** Answers the files, from the root. */
async function write(method: string, path: string, given?: string): Promise<string[]> {
  if (!verbs[method]) throw new Error(`${method}: one of ${Object.keys(verbs).join(', ')}`)
  if (!/^(\/(:[a-zA-Z]+|[a-z0-9][a-z0-9.-]*))+$/.test(path)) {
    throw new Error(`${path}: write it as /words/:parameter, in lower case`)
  }
  const registry = await loadRegistry()
  const id = operationId(method, path)
  const twin = registry.byId(id)
  if (twin) throw new Error(`${method} ${path} is there already: ${twin.file}`)
  const words = path.split('/').filter((part) => part && !part.startsWith(':'))
  const section = given ?? words[0]!
  if (!existsSync(join(root, 'operations', section, 'section.ts'))) {
    throw new Error(`operations/${section}/section.ts is missing: name a folder that has one with --section`)
  }
  const name = [verbs[method]!, ...words.slice(words[0] === section ? 1 : 0)].join('-').replaceAll('.', '-')
  const file = join(root, 'operations', section, 'api', `${name}.ts`)
  const test = join(root, 'test/operations', section, `${name}.test.ts`)
  for (const each of [file, test]) {
    if (existsSync(each)) throw new Error(`${relative(root, each)} exists: nothing was written`)
    await mkdir(dirname(each), { recursive: true })
  }
  await writeFile(file, operationText(method, path))
  await writeFile(test, testText(method, path, section, name))
  return [file, test].map((each) => relative(root, each))
}

function operationText(method: string, path: string): string {
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
  readOnly: ${isRead},
  answer: ${answer},
  ${body}
})
`
}

function testText(method: string, path: string, section: string, name: string): string {
  const variable = name.replace(/-([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
  const params = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, each]) => `${each}: 'some-id'`)
  const input = params.length > 0 ? `, { params: { ${params.join(', ')} } }` : ''
  return `import { expect, test } from 'vitest'
import ${variable} from '#operations/${section}/api/${name}'
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
