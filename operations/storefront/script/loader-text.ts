/** The loader: the script that a shop's pages load, made of the modules in `loader/`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const modules = ['core.js', 'popup.js', 'bars.js', 'alerts.js', 'button.js', 'start.js']
const imported = /^import [^']*'[^']*'$/gm
const body = modules
  .map((name) => readFileSync(join(import.meta.dirname, 'loader', name), 'utf8'))
  .join('\n')
  .replace(imported, '')
  .replace(/^export /gm, '')

/**
 * For the store whose storefront is at `base`. A page that loads it twice runs it once; what fails is told to the
 * browser's console and to nobody else.
 */
export const loaderText = (base: string): string =>
  [
    '(() => {',
    'if (window.storefrontLoaded) return',
    'window.storefrontLoaded = true',
    `const base = ${JSON.stringify(base)}`,
    body,
    "start().catch((error) => console.warn('storefront:', error.message))",
    '})()',
    '',
  ].join('\n')
