/** Operations, pages and commands that texts name exist, and a line to copy works in every shell. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadRegistry } from '#runtime/registry/registry'
import { testApp } from '#test/support/app'
import { listCommands } from '#test/support/programs'

const root = join(import.meta.dirname, '../..')
const app = await testApp()
const { operations } = await loadRegistry()

/** All code and guides: what callers and operators may read. */
const texts = ['operations', 'runtime', 'db', 'scripts', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|js|md)$/.test(file) && !/scripts\.ts$|node_modules/.test(file))
    .map((file) => join(folder, file)),
)
texts.push('README.md', 'SECURITY.md')
const read = texts.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
/** The example of an operation that does not exist yet, in the guide to writing one. */
const examples = new Set(['GET /reviews/greeting', 'POST /campaigns/:id/archive', 'POST /path', 'GET /path'])

const toPattern = (path: string): string => path.replace(/:\w+/g, ':')

test('every operation or page that a text names exists', () => {
  const known = new Set([
    ...operations.map(({ spec }) => `${spec.method} ${toPattern(spec.path)}`),
    ...app.publicRoutes.map(({ method, path }) => `${method} ${toPattern(path)}`),
    // A section's texts name its storefront pages without the store.
    ...app.publicRoutes.map(
      ({ method, path }) => `${method} ${toPattern(path).replace('/storefront/:', '')}`,
    ),
  ])
  const missing: string[] = []
  let named = 0
  for (const { file, text } of read) {
    for (const [mention, method, path] of text.matchAll(
      /\b(GET|POST|PUT|PATCH|DELETE) ((?:\/(?::?[A-Za-z][\w.-]*))+)/g,
    )) {
      if (examples.has(mention)) continue
      named += 1
      const plain = path!.replace(/^\/v1(?=\/)/, '').replace(/\.$/, '')
      if (!known.has(`${method} ${toPattern(plain)}`)) missing.push(`${file}: ${mention}`)
    }
  }
  expect(missing).toEqual([])
  expect(named).toBeGreaterThan(40)
})

test('every command that a text names exists', () => {
  const commands = listCommands()
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const missing: string[] = []
  for (const { file, text } of read) {
    for (const [mention, script, sub] of text.matchAll(
      /\bnpm run (?:--silent )?([a-z][a-z:-]*)(?: -- ([a-z][a-z-]*)\b(?![./]))?/g,
    )) {
      if (!Object.hasOwn(scripts, script!)) missing.push(`${file}: ${mention}`)
      const subs = commands.filter((each) => each.script === script && each.args.length > 0)
      if (sub && subs.length > 0 && !subs.some(({ args }) => args[0] === sub))
        missing.push(`${file}: ${mention}`)
    }
  }
  expect(missing).toEqual([])
})

test('an address with a query is quoted in every line to copy, since zsh reads ? as a pattern', () => {
  for (const { file, text } of read.filter((each) => each.file.endsWith('.md'))) {
    for (const line of text.split('\n')) {
      if (!/^\s*(?:curl|wget) /.test(line)) continue
      const unquoted = line.replace(/'[^']*'|"[^"]*"/g, '')
      expect(unquoted, file).not.toMatch(/[?&]\w/)
    }
  }
})
