/**
 * What a shop's pages fetch of us: the loader, and the modules of elements, made once from the files as they are. A
 * module's address names the state of all of them, so that browsers keep it for ever and never mix two releases.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Packed } from '#runtime/http/packed'
import type { Wired } from '#runtime/wiring'

/** An element that a theme may place, and that places itself where no theme did. */
export interface ElementSpec {
  /** Its tag, which begins with `store-`. */
  tag: string
  /** The key of `GET /widgets` that it is drawn from: without it there is nothing to see. */
  widget: string
  /** Gives `{ view, css?, texts?, places? }` as its default; imports nothing but `elements.js` and modules beside it. */
  module: URL
  /** Kinds of pages on which it places itself; left out: only a theme places it. */
  pages?: readonly ('home' | 'category' | 'product' | 'cart' | 'other')[] | '*'
  /** Above the page or at its edge: it needs no place. */
  floats?: true
  /** The parameter of a page's address that shows what is not saved yet, even where its widget is off. */
  preview?: string
}

const client = join(import.meta.dirname, 'client')
const own = ['elements.js', 'places.js']
const require = createRequire(import.meta.url)
const libraries: Readonly<Record<string, string>> = {
  'preact.js': require.resolve('preact'),
  'hooks.js': require.resolve('preact/hooks'),
}

/** Without what only readers of the file need. */
const withoutComments = (text: string): string => text.replace(/^[ \t]*(\/\/.*|\/\*[\s\S]*?\*\/)\n/gm, '')

/** What a module imports, by what it is called where it is served. */
const served = (text: string): string =>
  withoutComments(text)
    .replace(/(\bfrom\s*|\bimport\s*)(['"])preact\2/g, '$1$2./preact.js$2')
    .replace(/(\bfrom\s*)(['"])[^'"]*\/([\w-]+\.js)\2/g, '$1$2./$3$2')
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')

export interface Modules {
  /** Stands for the text of them all. */
  release: string
  files: ReadonlyMap<string, Packed>
}

// biome-ignore lint/plugin/module-state: a cache of this server's files, which do not change while it runs
const made = new WeakMap<Wired['elements'], Modules>()
const script = 'text/javascript; charset=utf-8'

/** Read once a process. */
export function modulesOf({ elements }: Pick<Wired, 'elements'>): Modules {
  const known = made.get(elements)
  if (known) return known
  const paths = new Map<string, string>([
    ...own.map((name): [string, string] => [name, join(client, name)]),
    ...Object.entries(libraries),
  ])
  const wanted = elements.map(({ module }) => fileURLToPath(module))
  for (let path = wanted.shift(); path; path = wanted.shift()) {
    const name = basename(path)
    if (paths.has(name)) {
      if (paths.get(name) !== path) throw new Error(`Two modules of elements are called ${name}`)
      continue
    }
    paths.set(name, path)
    for (const [, beside] of readFileSync(path, 'utf8').matchAll(/\bfrom\s*['"](\.\.?\/[^'"]+\.js)['"]/g)) {
      const its = join(path, '..', beside!)
      if (!own.includes(basename(its))) wanted.push(its)
    }
  }
  const texts = new Map([...paths].map(([name, path]) => [name, served(readFileSync(path, 'utf8'))]))
  const hash = createHash('sha256')
  for (const name of [...texts.keys()].sort()) hash.update(`${name}\n${texts.get(name)}\n`)
  const modules = {
    release: hash.digest('base64url').slice(0, 16),
    files: new Map(
      [...texts].map(([name, text]) => [name, new Packed(text, { type: script, effort: 'lasting' })]),
    ),
  }
  made.set(elements, modules)
  return modules
}

/** In one function, which needs no `import`, and reads by no margins. */
const loaderBody = ['visitor.js', 'loader.js']
  .map((name) => withoutComments(readFileSync(join(client, name), 'utf8')))
  .map((text) => text.replace(/^import .*\n/gm, '').replace(/^(export |[ \t]+)/gm, ''))
  .join('\n')

// biome-ignore lint/plugin/module-state: a cache of this server's files, which do not change while it runs
const loaders = new Map<string, Packed>()
const loadersAtMost = 2000

/** For the store whose storefront is at `base`. A page that loads it twice runs it once. */
export function loaderOf(
  wired: Pick<Wired, 'elements' | 'widgets'>,
  store: { base: string; modules: string; name: string; locale: string; currency: string },
): Packed {
  const { base, modules, ...shop } = store
  const elements = wired.elements.map(({ tag, widget, module, pages, floats, preview }) => ({
    tag,
    widget,
    ...(basename(fileURLToPath(module)) === `${tag}.js` ? {} : { file: basename(fileURLToPath(module)) }),
    ...(pages ? { pages: pages === '*' ? '*' : pages.join(' ') } : {}),
    ...(floats ? { floats } : {}),
    ...(wired.widgets[widget]?.cards ? { cards: true } : {}),
    ...(preview ? { preview } : {}),
  }))
  const text = [
    '(() => {',
    'if (window.storefrontLoaded) return window.storefront?.again?.(document.currentScript)',
    'window.storefrontLoaded = true',
    `const base = ${JSON.stringify(base)}`,
    `const modules = ${JSON.stringify(modules)}`,
    `const shop = ${JSON.stringify(shop)}`,
    `const elements = ${JSON.stringify(elements)}`,
    loaderBody,
    '})()',
    '',
  ].join('\n')
  const known = loaders.get(text)
  if (known) return known
  const packed = new Packed(text, { type: script, effort: 'passing' })
  if (loaders.size >= loadersAtMost) loaders.delete(loaders.keys().next().value!)
  loaders.set(text, packed)
  return packed
}
