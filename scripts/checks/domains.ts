/** Checks that the runtime is generic: its code names no provider of a section's port and no concept of a section. */
import type { Issue } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'

/** Found in any spelling: in names, paths, addresses and variables. */
const providers = ['brevo', 'mailchimp', 'mercadopago', 'nuvemshop', 'shopify', 'tiendanube', 'whatsapp']

/** Lower case and singular. Words with a generic meaning (order, store, stock) are not included. */
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

/** Issues in the contents and paths of all files below runtime/; comments count. */
export async function findDomainIssues(root: string): Promise<Issue[]> {
  const faults: Issue[] = []
  for (const file of await typescriptFiles(root, 'runtime')) {
    const lines = [file.slice('runtime/'.length), ...readCode(root, file).split('\n')]
    for (const [at, line] of lines.entries()) {
      for (const word of new Set([...findProviders(line), ...findConcepts(line)])) {
        faults.push({
          file: at === 0 ? file : `${file}:${at}`,
          wrong: `names ${word}, which is a section's`,
          remedy:
            'move it to the section, which wires what the runtime has to know (runtime/extension-points.ts)',
        })
      }
    }
  }
  return faults
}

const findProviders = (line: string): string[] => {
  const normalized = line.toLowerCase().replace(/[\s_-]/g, '')
  return providers.filter((name) => normalized.includes(name))
}

/** Words of text and of `camelCase` names; names in snake_case are tables or columns. */
const findConcepts = (line: string): string[] =>
  (line.match(/[A-Za-z]\w*/g) ?? [])
    .filter((name) => !/^[a-z\d]+_/.test(name))
    .flatMap((name) => [name, ...name.split(/_|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)])
    .map((part) => part.toLowerCase().replace(/s$|es$|\d+$/, ''))
    .filter((word) => concepts.has(word))
