/** The runtime is generic: its code names no provider of a section's port and no concept of a section. */
import type { Fault } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'

/** Found in any spelling: in names, paths, addresses and variables. */
const providers = ['brevo', 'mailchimp', 'mercadopago', 'shopify', 'whatsapp']

/** In lower case and the singular. Words that mean something generic too (order, store, stock) are not here. */
const concepts: ReadonlySet<string> = new Set([
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

/** The faults of every file below runtime/ of a project's root, its path too; comments count. */
export async function domainFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const file of await typescriptFiles(root, 'runtime')) {
    const lines = [file.slice('runtime/'.length), ...readCode(root, file).split('\n')]
    for (const [at, line] of lines.entries()) {
      for (const word of new Set([...providersIn(line), ...conceptsIn(line)])) {
        faults.push({
          file: at === 0 ? file : `${file}:${at}`,
          wrong: `names ${word}, which is a section's`,
          remedy: 'move it to the section, which wires what the runtime has to know (runtime/points.ts)',
        })
      }
    }
  }
  return faults
}

const providersIn = (line: string): string[] => {
  const letters = line.toLowerCase().replace(/[\s_-]/g, '')
  return providers.filter((name) => letters.includes(name))
}

/** Words of text and of `camelCase` names; a name in small letters with underscores is a table's or a column's. */
const conceptsIn = (line: string): string[] =>
  (line.match(/[A-Za-z]\w*/g) ?? [])
    .filter((name) => !/^[a-z\d]+_/.test(name))
    .flatMap((name) => [name, ...name.split(/_|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)])
    .map((part) => part.toLowerCase().replace(/s$|es$|\d+$/, ''))
    .filter((word) => concepts.has(word))
