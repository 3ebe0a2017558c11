/** Checks the theme app extension against Shopify's documented rules (./shopify-facts.md), and against our elements. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { apiVersion } from '#operations/store/ecommerce/shopify/http/options'
import { optionalScopes, requiredScopes } from '#operations/store/ecommerce/shopify/installation/install'
import { embedBlock, loaderMetafield } from '#operations/store/ecommerce/shopify/installation/scripts'
import { loadRegistry } from '#runtime/registry/registry'

const app = join(import.meta.dirname, '../../operations/store/ecommerce/shopify/app')
const extension = join(app, 'extensions/storefront')
const { elements } = (await loadRegistry()).extensions

const listFiles = (folder: string): string[] => readdirSync(join(extension, folder)).sort()
const readText = (path: string): string => readFileSync(join(extension, path), 'utf8')
const schemaTag = /\{% schema %\}([\s\S]*)\{% endschema %\}/

interface Setting {
  type: string
  id?: string
  label?: string
  info?: string
  content?: string
  default?: unknown
  options?: { value: string; label: string }[]
}
interface Schema {
  name: string
  target: string
  enabled_on?: { templates: string[] }
  settings: Setting[]
}

const blocks = listFiles('blocks').map((file) => {
  const text = readText(`blocks/${file}`)
  return {
    file,
    text,
    liquid: text.replace(schemaTag, ''),
    schema: JSON.parse(schemaTag.exec(text)![1]!) as Schema,
  }
})
const locales = listFiles('locales')
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => ({ file, words: JSON.parse(readText(`locales/${file}`)) as Record<string, unknown> }))

/** A text of the schema in a language: `t:blocks.looks.name`. */
function findText(words: Record<string, unknown>, text: string): unknown {
  const keys = text.replace(/^t:/, '').split('.')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], words)
}

/** Checks that tags are known, opened and closed. */
function findLiquidError(text: string): string | null {
  const closing = new Set(['if', 'unless', 'case', 'for', 'comment', 'schema'])
  const single = new Set(['assign', 'render', 'else', 'elsif', 'when'])
  const open: string[] = []
  const bare = text.replace(/\{%-? comment -?%\}[\s\S]*?\{%-? endcomment -?%\}/g, '')
  for (const [, tag] of bare.matchAll(/\{%-?\s*(\w+)[^%]*?-?%\}/g)) {
    if (closing.has(tag!)) open.push(tag!)
    else if (tag!.startsWith('end')) {
      if (open.pop() !== tag!.slice(3)) return `${tag} closes nothing`
    } else if (!single.has(tag!)) return `${tag} is no tag of a block`
  }
  const count = (of: RegExp) => (bare.match(of) ?? []).length
  if (count(/\{\{/g) !== count(/\}\}/g) || count(/\{%/g) !== count(/%\}/g)) return 'a bracket is open'
  return open.length > 0 ? `${open.join(', ')} is open` : null
}

describe('its blocks', () => {
  test('one block for the loader, and one for every element that is placed on a page', () => {
    const placed = elements
      .filter(({ floats }) => !floats)
      .map(({ tag }) => `${tag.replace(/^store-/, '')}.liquid`)
    const files = blocks.map(({ file }) => file)
    expect(files).toEqual(expect.arrayContaining([...placed, `${embedBlock}.liquid`]))
    const known = elements.map(({ tag }) => tag)
    for (const { file, text, schema } of blocks) {
      const tags = [...text.matchAll(/<(store-[a-z-]+)/g)].map(([, tag]) => tag)
      expect([file, schema.target]).toEqual([file, file === `${embedBlock}.liquid` ? 'body' : 'section'])
      if (schema.target === 'body') expect(tags).toEqual([])
      else {
        expect(tags).toEqual([`store-${file.replace('.liquid', '')}`])
        expect(known).toContain(tags[0])
        expect(text).toContain('{{ block.shopify_attributes }}')
      }
    }
    expect(files.length).toBeLessThanOrEqual(30)
  })

  test.each(blocks)('$file is Liquid with balanced tags', ({ liquid }) => {
    expect(findLiquidError(liquid)).toBeNull()
    // Not available in an extension.
    expect(liquid).not.toMatch(/content_for_(header|index|layout)/)
    for (const [, name] of liquid.matchAll(/render '(\w+)'/g))
      expect(listFiles('snippets')).toContain(`${name}.liquid`)
    for (const [, name] of liquid.matchAll(/'([\w.]+)' \| asset_url/g))
      expect(listFiles('assets')).toContain(name)
  })

  test('invalid Liquid is detected', () => {
    expect(findLiquidError('{% if a %}')).toMatch(/open/)
    expect(findLiquidError('{% if a %}{% endcase %}')).toMatch(/closes/)
    expect(findLiquidError('{% javascript %}')).toMatch(/no tag/)
    expect(findLiquidError('{{ a }')).toMatch(/bracket/)
  })

  test.each(blocks)('$file has a schema that Shopify accepts, in every language', ({ liquid, schema }) => {
    const templates = ['index', 'product', 'collection', 'cart', 'page', 'search']
    for (const each of schema.enabled_on?.templates ?? []) expect(templates).toContain(each)
    const ids = schema.settings.flatMap(({ id }) => id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, used] of liquid.matchAll(/block\.settings\.(\w+)/g)) expect(ids).toContain(used)
    for (const { type, id, label, content, default: usual, options } of schema.settings) {
      expect(['product', 'select', 'checkbox', 'paragraph']).toContain(type)
      if (type === 'paragraph') expect(content).toBeTruthy()
      else expect([id, label]).toEqual([expect.stringMatching(/^\w+$/), expect.stringMatching(/^t:/)])
      if (options) expect(options.map(({ value }) => value)).toContain(usual)
    }
    const texts = [schema.name, ...schema.settings.flatMap((each) => [each.label, each.info, each.content])]
    const labels = schema.settings.flatMap(({ options = [] }) => options.map(({ label }) => label))
    for (const { file, words } of locales) {
      for (const text of [...texts, ...labels].filter((each) => each !== undefined)) {
        expect([file, text, findText(words, text!)]).toEqual([file, text, expect.stringMatching(/./)])
      }
      expect(String(findText(words, schema.name)).length).toBeLessThanOrEqual(25)
    }
  })

  test('the elements show the product of their block or page, where they need one', () => {
    const withProduct = blocks.filter(({ liquid }) => liquid.includes("render 'product'"))
    for (const { schema } of withProduct)
      expect(schema.settings).toContainEqual(expect.objectContaining({ type: 'product' }))
    expect(withProduct.length).toBeGreaterThan(10)
  })

  test('the loader reads the address that we write, and reports how it was loaded', () => {
    const { text } = blocks.find(({ file }) => file === `${embedBlock}.liquid`)!
    expect(text).toContain(`app.metafields.${loaderMetafield.namespace}.${loaderMetafield.key}.value`)
    expect(text).toContain("append: '?via=embed'")
  })
})

test("its sizes are within Shopify's limits", () => {
  const size = (path: string): number => statSync(join(extension, path)).size
  const sum = (folder: string) => listFiles(folder).reduce((all, file) => all + size(`${folder}/${file}`), 0)
  expect(sum('blocks') + sum('snippets')).toBeLessThan(100 * 1024)
  expect(sum('assets')).toBeLessThan(10 * 1024 * 1024)
  for (const file of listFiles('assets')) {
    expect(gzipSync(readFileSync(join(extension, 'assets', file))).length).toBeLessThan(10_000)
  }
  for (const file of listFiles('locales')) expect(size(`locales/${file}`)).toBeLessThan(15 * 1024)
  expect(listFiles('locales').filter((file) => file.includes('.default.'))).toEqual([
    'en.default.json',
    'en.default.schema.json',
  ])
})

test('its settings contain no secret, request the scopes that the code needs, and link to existing pages', async () => {
  const toml = readFileSync(join(app, 'shopify.app.toml'), 'utf8')
  expect(readFileSync(join(extension, 'shopify.extension.toml'), 'utf8')).toMatch(/^type = "theme"$/m)
  expect(/^scopes = "(.*)"$/m.exec(toml)![1]).toBe([...requiredScopes, ...optionalScopes].join(','))
  expect(toml).toContain(`api_version = "${apiVersion}"`)
  expect(toml).not.toMatch(/shp(ss|at|rt)_|secret = /)
  const { pages } = await loadRegistry()
  const addresses = [...toml.matchAll(/https:\/\/api\.example\.com(\/[\w/]+)/g)].map(([, path]) => path!)
  for (const path of addresses) {
    const isThere = pages.some(({ path: own }) => new RegExp(`^${own.replace(/:\w+/g, '[^/]+')}$`).test(path))
    expect([path, isThere]).toEqual([path, true])
  }
  expect(addresses.length).toBe(4)
})
