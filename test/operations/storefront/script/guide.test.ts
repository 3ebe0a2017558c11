/** The theme guide is complete: its tables are compared with the sources that browsers run. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { wholeRegistry } from '#test/support/app'

const root = join(import.meta.dirname, '../../../..')
const client = join(root, 'operations/storefront/script/client')
const guide = readFileSync(join(root, 'operations/storefront/THEMES.md'), 'utf8')
const { extensions } = await wholeRegistry()

/** A top-level name of a module: the parts in it, and the names that it uses. */
interface Declared {
  parts: Set<string>
  attributes: Set<string>
  uses: Set<string>
  /** The modules that it imports by `import()`. */
  later: string[]
  /** The keys of an object literal. */
  keys: string[]
}
interface Module {
  /** By name; `default` is the element itself. */
  declared: Map<string, Declared>
  imports: Map<string, { file: string; name: string }>
}

/** Parts with computed names: the expression, and its possible values. */
const computedParts: Record<string, readonly string[]> = {
  // In addition to its type, which the guide mentions.
  'store-content-blocks.js type': [],
  'store-stickers.js kind': ['text', 'preset'],
  'store-video-slider.js layout': ['carousel', 'stories'],
  'store-video-slider.js name': ['previous', 'next'],
  'store-reviews.js layout': ['list', 'grid'],
  'store-testimonials.js layout': ['list', 'grid'],
  'carousel.js part': ['previous', 'pause', 'next'],
}
const computedPartsFound = new Set<string>()

function listWords(node: ts.Expression, file: string): string[] {
  if (ts.isStringLiteralLike(node)) return node.text.split(/\s+/).filter(Boolean)
  if (ts.isConditionalExpression(node))
    return [...listWords(node.whenTrue, file), ...listWords(node.whenFalse, file)]
  if (ts.isParenthesizedExpression(node)) return listWords(node.expression, file)
  if (ts.isTemplateExpression(node)) {
    const texts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
    return [
      ...texts.flatMap((text) => text.split(/\s+/).filter(Boolean)),
      ...node.templateSpans.flatMap(({ expression }) => listWords(expression, file)),
    ]
  }
  if (node.getText() === 'undefined' || node.getText() === 'null') return []
  const key = `${file.split('/').at(-1)} ${node.getText()}`
  computedPartsFound.add(key)
  return [...(computedParts[key] ?? [`?${key}`])]
}

const modules = new Map<string, Module>()
function readModule(file: string): Module {
  const known = modules.get(file)
  if (known) return known
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.JS,
  )
  const module: Module = { declared: new Map(), imports: new Map() }
  modules.set(file, module)
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      const from = join(dirname(file), (statement.moduleSpecifier as ts.StringLiteral).text)
      const names = statement.importClause?.namedBindings
      for (const { name, propertyName } of names && ts.isNamedImports(names) ? names.elements : []) {
        module.imports.set(name.text, { file: from, name: (propertyName ?? name).text })
      }
      continue
    }
    for (const [name, node] of listDeclarations(statement)) module.declared.set(name, inspect(node, file))
  }
  return module
}

function listDeclarations(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isExportAssignment(statement)) return [['default', statement.expression]]
  if (ts.isFunctionDeclaration(statement)) return [[statement.name?.text ?? 'default', statement]]
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations.map((each) => [each.name.getText(), each])
}

function inspect(node: ts.Node, file: string): Declared {
  const object = ts.isVariableDeclaration(node) ? node.initializer : node
  const keys =
    object && ts.isObjectLiteralExpression(object)
      ? object.properties.flatMap(({ name }) => (name && 'text' in name ? [String(name.text)] : []))
      : []
  const found: Declared = { parts: new Set(), attributes: new Set(), uses: new Set(), later: [], keys }
  const visit = (each: ts.Node): void => {
    if (ts.isIdentifier(each)) found.uses.add(each.text)
    if (ts.isCallExpression(each) && each.expression.kind === ts.SyntaxKind.ImportKeyword)
      found.later.push(join(dirname(file), (each.arguments[0] as ts.StringLiteral).text))
    if (ts.isPropertyAssignment(each) && each.name.getText() === 'part') {
      for (const word of listWords(each.initializer, file)) found.parts.add(word)
    }
    if (ts.isShorthandPropertyAssignment(each) && each.name.text === 'part') {
      for (const word of listWords(each.name, file)) found.parts.add(word)
    }
    if (ts.isCallExpression(each) && /\battribute$/.test(each.expression.getText()) && each.arguments[0]) {
      found.attributes.add((each.arguments[0] as ts.StringLiteral).text)
    }
    ts.forEachChild(each, visit)
  }
  visit(node)
  return found
}

/** Everything reachable from a module's default export, also through `import()`. */
function collectReachable(file: string): { parts: string[]; attributes: string[] } {
  const [parts, attributes] = [new Set<string>(), new Set<string>()]
  const seen = new Set<string>()
  const follow = (at: string, name: string): void => {
    if (seen.has(`${at} ${name}`)) return
    seen.add(`${at} ${name}`)
    if (!at.startsWith(join(root, 'operations'))) return
    const { declared, imports } = readModule(at)
    const own = declared.get(name)
    if (!own) {
      const from = imports.get(name)
      if (from?.file.endsWith('.js') && !/(?:preact|hooks)\.js$/.test(from.file)) follow(from.file, from.name)
      return
    }
    for (const part of own.parts) parts.add(part)
    for (const attribute of own.attributes) attributes.add(attribute)
    for (const used of own.uses) follow(at, used)
    for (const each of own.later)
      for (const exported of readModule(each).declared.keys()) follow(each, exported)
  }
  follow(file, 'default')
  return { parts: [...parts].sort(), attributes: [...attributes].sort() }
}

/** Rows of the table under a heading, by the text of their first cell. */
function tableUnder(heading: string): Map<string, string[]> {
  const after = guide.slice(guide.indexOf(`\n${heading}\n`))
  const rows = /\n\|[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)*)/.exec(after)?.[1] ?? ''
  return new Map(
    rows
      .split('\n')
      .filter(Boolean)
      .flatMap((row) => {
        const [names = '', ...cells] = row.slice(1, -1).split('|')
        return [...names.matchAll(/`([^`]+)`/g)].map(([, name]): [string, string[]] => [name!, cells])
      }),
  )
}
/** The first name of each comma-separated entry; the rest are values and words. */
const named = (cell = ''): string[] =>
  cell.split(', ').flatMap((each) => /`([a-z][a-z-]*)[^`]*`/.exec(each)?.[1] ?? [])

const elements = extensions.elements.map(({ tag, module }) => ({
  tag,
  ...collectReachable(fileURLToPath(module)),
}))

describe('elements', () => {
  const table = tableUnder('## Elements')
  test('the guide lists each element and no other', () => {
    expect([...table.keys()].sort()).toEqual(elements.map(({ tag }) => tag).sort())
  })
  test.each(elements)('$tag: its attributes', ({ tag, attributes }) => {
    const listed = new Set(named(table.get(tag)?.[1]))
    expect(attributes.filter((name) => !listed.has(name))).toEqual([])
    // The first script reads `product-id` for every element.
    expect([...listed].filter((name) => name !== 'product-id' && !attributes.includes(name))).toEqual([])
  })
  const parts = tableUnder('## Parts')
  test.each(elements)('$tag: its parts', ({ tag, parts: all }) => {
    const listed = [...(parts.get(tag)?.[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, part]) => part!)
    expect([tag, listed.sort()]).toEqual([tag, all])
  })
  test('computed part names still exist', () => {
    expect(Object.keys(computedParts).filter((key) => !computedPartsFound.has(key))).toEqual([])
  })
})

const sources = [
  ...new Set([
    ...modules.keys(),
    ...['visitor.js', 'loader.js', 'places.js', 'floats.js', 'over.js'].map((name) => join(client, name)),
  ]),
]
const code = sources.map((file) => readFileSync(file, 'utf8')).join('\n')
const findAll = (text: string, form: RegExp): string[] =>
  [...new Set([...text.matchAll(form)].map(([, name]) => name!))].sort()

describe('the interface between shop and elements', () => {
  test('events', () => {
    // `storefront:` alone is the prefix of console warnings.
    const form = /\bstorefront:([a-z]+(?:-[a-z]+)*)\b/g
    expect(findAll(guide, form)).toEqual(findAll(code, form))
  })
  test('slots: there are none', () => {
    expect(code).not.toMatch(/h\(\s*'slot'/)
    expect(guide).toContain('No element has slots')
  })
  test('spots of pages and of cards', () => {
    const { declared } = readModule(join(client, 'spots.js'))
    const made = [...declared.get('spots')!.keys]
    const listed = [...tableUnder('## Where elements are placed').keys()]
    // Corners and edges are created, and `floating` means no place.
    expect(listed.filter((name) => !/^(edge|corner)-|^-sticky$|^data-/.test(name)).sort()).toEqual(
      made.filter((name) => name !== 'floating').sort(),
    )
  })
  test('properties of window', () => {
    const form = /\bwindow\.(storefront[A-Z][A-Za-z]*)/g
    const own = ['storefrontLoaded']
    const inCode = findAll(code, /\b(storefront[A-Z][A-Za-z]*)\b/g).filter((name) => !own.includes(name))
    expect(findAll(guide, form)).toEqual(inCode)
  })
  test('custom properties for themes', () => {
    const form = /var\((--store-[a-z-]+)/g
    expect(findAll(guide, /`(--store-[a-z-]+)`/g)).toEqual(findAll(code, form))
  })
  test('attributes of the script tag', () => {
    const form = /(?:\bsaid\('|script\[data-)([a-z-]+)(?:'[,)]|\])/g
    expect(findAll(guide, /^\| `data-([a-z-]+)/gm)).toEqual(findAll(code, form))
  })
})
