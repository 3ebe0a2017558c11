/** The loader: the script that a shop's pages load, made of the modules in `loader/` and of the parts that are wired. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wired } from '#runtime/wiring'

/** What draws a section's widgets above the shop's pages. */
export interface LoaderPart {
  /** Its module, which imports nothing but `core.js`. */
  module: URL
  /** Where its text stands among the others: browsers keep the loader by its bytes. */
  position: number
  /** What begins it, where `widgets`, `page` and `productId` are known, and may be waited for. */
  begins: string
  /** When among the others. */
  turn: number
}

const imported = /^import [^']*'[^']*'$/gm
const moduleOf = (name: string): string => readFileSync(join(import.meta.dirname, 'loader', name), 'utf8')

function bodyOf(parts: readonly LoaderPart[]): string {
  const inText = [...parts].sort((a, b) => a.position - b.position)
  const inTurn = [...parts].sort((a, b) => a.turn - b.turn)
  const start = moduleOf('start.js')
    .replace('/* parts */', inText.map(({ module }) => `import '${module}'`).join('\n'))
    .replace('  /* the parts begin */', inTurn.map(({ begins }) => `  ${begins}`).join('\n'))
  return [moduleOf('core.js'), ...inText.map(({ module }) => readFileSync(module, 'utf8')), start]
    .join('\n')
    .replace(imported, '')
    .replace(/^export /gm, '')
}

const bodies = new WeakMap<Wired['loader'], string>()

/**
 * For the store whose storefront is at `base`. A page that loads it twice runs it once; what fails is told to the
 * browser's console and to nobody else.
 */
export function loaderText({ loader }: Pick<Wired, 'loader'>, base: string): string {
  const body = bodies.get(loader) ?? bodyOf(loader)
  bodies.set(loader, body)
  return [
    '(() => {',
    'if (window.storefrontLoaded) return',
    'window.storefrontLoaded = true',
    `const base = ${JSON.stringify(base)}`,
    body,
    "start().catch((error) => console.warn('storefront:', error.message))",
    '})()',
    '',
  ].join('\n')
}
