/**
 * Builds the files that a shop's pages fetch from us: the loader and the modules of elements. They are built once per
 * process from the source files, without a bundler. A module's URL contains the hash of all modules, so that browsers
 * can cache it forever and never mix two releases.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MergedExtensions } from '#runtime/extensions'
import { CompressedText } from '#runtime/http/compression-cache'
import { decimalsOf } from '#runtime/values/money'

/** A custom element. A theme can place it; if the theme did not, the element places itself. */
export interface ElementSpec {
  /** Tag name; begins with `store-`. */
  tag: string
  /** The key of the element's data in `GET /widgets`. Without data nothing is shown. */
  widget: string
  /**
   * Its file is called `<tag>.js`. Its default export is `{ view, css?, texts?, places? }`. It imports only `elements.js`
   * and modules in the same folder; what a shopper opens is imported later (`Later` in `elements.js`).
   */
  module: URL
  /** Kinds of pages on which the element places itself. If left out, only a theme can place it. */
  pages?: readonly ('home' | 'category' | 'product' | 'cart' | 'other')[] | '*'
  /** True if the element floats above the page or at its edge, so that the page needs no spot for it. */
  floats?: true
  /** Query parameter of pages that preview unsaved settings. With it the element is shown even if the widget is off. */
  preview?: string
}

const client = join(import.meta.dirname, 'client')
const own = ['elements.js', 'appear.js', 'places.js', 'floats.js', 'spots.js', 'layers.js']
const require = createRequire(import.meta.url)
const libraries: Readonly<Record<string, string>> = {
  'preact.js': require.resolve('preact'),
  'hooks.js': require.resolve('preact/hooks'),
}

/** Removes comments that fill whole lines, and indentation. */
const strip = (text: string): string =>
  text.replace(/^[ \t]*(\/\/.*|\/\*[\s\S]*?\*\/)\n/gm, '').replace(/^[ \t]+/gm, '')

/** Finds what a module imports, at once or later by `import()`. */
const imports = /\b(?:from\s*|import\()['"](\.\.?\/[^'"]+\.js)['"]/g

/** Rewrites imports to the names under which modules are served. */
const toServed = (text: string): string =>
  strip(text)
    .replace(/(\bfrom\s*|\bimport\s*)(['"])preact\2/g, '$1$2./preact.js$2')
    .replace(/(\bfrom\s*|\bimport\()(['"])[^'"]*\/([\w-]+\.js)\2/g, '$1$2./$3$2')
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')

export interface Modules {
  /** Hash of the text of all modules. */
  release: string
  files: ReadonlyMap<string, CompressedText>
}

// biome-ignore lint/plugin/module-state: a cache of this server's files, which do not change while it runs
const modulesCache = new WeakMap<MergedExtensions['elements'], Modules>()
const script = 'text/javascript; charset=utf-8'

/** Returns the modules; builds them at the first call in this process. */
export function buildModules({ elements }: Pick<MergedExtensions, 'elements'>): Modules {
  const known = modulesCache.get(elements)
  if (known) return known
  const paths = new Map<string, string>([
    ...own.map((name): [string, string] => [name, join(client, name)]),
    ...Object.entries(libraries),
  ])
  const pending = elements.map(({ module }) => fileURLToPath(module))
  for (let path = pending.shift(); path; path = pending.shift()) {
    const name = basename(path)
    if (paths.has(name)) {
      if (paths.get(name) !== path) throw new Error(`Two modules of elements are called ${name}`)
      continue
    }
    paths.set(name, path)
    for (const [, beside] of readFileSync(path, 'utf8').matchAll(imports)) {
      const imported = join(path, '..', beside!)
      if (!own.includes(basename(imported))) pending.push(imported)
    }
  }
  const texts = new Map([...paths].map(([name, path]) => [name, toServed(readFileSync(path, 'utf8'))]))
  const hash = createHash('sha256')
  for (const name of [...texts.keys()].sort()) hash.update(`${name}\n${texts.get(name)}\n`)
  const modules = {
    release: hash.digest('base64url').slice(0, 16),
    files: new Map(
      [...texts].map(([name, text]) => [name, new CompressedText(text, { type: script, effort: 'lasting' })]),
    ),
  }
  modulesCache.set(elements, modules)
  return modules
}

/** Source of the loader. It runs as one function, so `import` and `export` are removed. */
const loaderBody = ['visitor.js', 'loader.js']
  .map((name) => strip(readFileSync(join(client, name), 'utf8')))
  .map((text) => text.replace(/^import .*\n/gm, '').replace(/^export /gm, ''))
  .join('\n')

// biome-ignore lint/plugin/module-state: a cache of this server's files, which do not change while it runs
const loaders = new Map<string, CompressedText>()
const loadersAtMost = 2000

/** The loader of one store; `base` is the URL of its storefront. A page that loads it twice runs it once. */
export function buildLoader(
  extensions: Pick<MergedExtensions, 'elements' | 'widgets'>,
  store: { base: string; modules: string; name: string; locale: string; currency: string },
): CompressedText {
  const { base, modules, ...shop } = store
  // Lists without keys, which `loader.js` names: they are smaller.
  const elements = extensions.elements.map(({ tag, widget, pages = '', floats, preview }) => [
    ...[tag.replace('store-', ''), widget, [pages].flat().join(' '), floats ? 1 : 0],
    ...[extensions.widgets[widget]?.cards ? 1 : 0, preview ?? 0],
  ])
  const text = [
    '(() => {',
    'if (window.storefrontLoaded) return window.storefront?.again?.(document.currentScript)',
    'window.storefrontLoaded = true',
    `const base = ${JSON.stringify(base)}`,
    `const modules = ${JSON.stringify(modules)}`,
    `const shop = ${JSON.stringify({ ...shop, decimals: decimalsOf(shop.currency) })}`,
    `const listed = ${JSON.stringify(elements)}`,
    loaderBody,
    '})()',
    '',
  ].join('\n')
  const known = loaders.get(text)
  if (known) return known
  const packed = new CompressedText(text, { type: script, effort: 'passing' })
  if (loaders.size >= loadersAtMost) loaders.delete(loaders.keys().next().value!)
  loaders.set(text, packed)
  return packed
}
