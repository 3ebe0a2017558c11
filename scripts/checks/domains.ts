/** The runtime is generic: its code names no provider of a section's port and no concept of a section. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'

/** In lower case and the singular. Words that mean something generic too (order, store, stock) are not here. */
const words: ReadonlySet<string> = new Set([
  // Providers.
  'brevo',
  'mailchimp',
  'mercadopago',
  'mercado',
  'shopify',
  'whatsapp',
  // Concepts of sections.
  'automation',
  'bundle',
  'campaign',
  'cart',
  'checkout',
  'conversion',
  'coupon',
  'ecommerce',
  'exchange',
  'inbox',
  'messaging',
  'newsletter',
  'popup',
  'promotion',
  'review',
  'storefront',
  'testimonial',
  'wishlist',
])

/** The faults of every file below runtime/ of a project's root; comments count. */
export async function domainFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const path of await typescriptFiles(join(root, 'runtime'))) {
    const file = relative(root, path).split(sep).join('/')
    for (const [at, line] of readFileSync(path, 'utf8').split('\n').entries()) {
      for (const word of new Set(wordsOf(line))) {
        faults.push({
          file: `${file}:${at + 1}`,
          wrong: `names ${word}, which is a section's`,
          remedy: 'move it to the section, which wires what the runtime has to know (runtime/points.ts)',
        })
      }
    }
  }
  return faults
}

/** Words of text and of `camelCase` names; a name with underscores is a table's or a column's. */
const wordsOf = (line: string): string[] =>
  (line.match(/[A-Za-z]\w*/g) ?? [])
    .filter((name) => !name.includes('_'))
    .flatMap((name) => [name, ...name.split(/(?<=[a-z])(?=[A-Z])/)])
    .map((part) => part.toLowerCase().replace(/s$/, ''))
    .filter((word) => words.has(word))
