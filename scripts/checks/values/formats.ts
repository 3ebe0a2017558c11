/** What a locale writes its own way is written in one place, `runtime/values/localized.ts`, which keeps the formatters. */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { type Exception, faultsOf } from '../source.ts'

const place = 'runtime/values/localized.ts'
const wrong = 'makes a formatter of its own'

const others: readonly Exception[] = [
  {
    file: 'operations/store/profile/locality.ts',
    wrong,
    why: 'it asks whether there is such a time zone, and formats nothing',
  },
]

export const formatFaults = (root: string, exceptions = others): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['db', 'runtime', 'operations'],
    suspicious: /\bIntl\.\w*Format\b/,
    leaves: (file) => file === place,
    exceptions,
    listedIn: 'scripts/checks/values/formats.ts',
    wrongOf: (node) => (isMaking(node) ? [{ wrong, remedy: `take what ${place} has, or add to it` }] : []),
  })

/** `new Intl.NumberFormat(…)`, and the same without `new`. */
const isMaking = (node: ts.Node): boolean =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isPropertyAccessExpression(node.expression) &&
  ts.isIdentifier(node.expression.expression) &&
  node.expression.expression.text === 'Intl' &&
  node.expression.name.text.endsWith('Format')
