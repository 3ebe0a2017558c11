/**
 * PostgreSQL's `least` and `greatest` leave out what is null: nobody writes them but `runtime/database/sql.ts`, whose forms say
 * what is meant. Released migrations stay as they are.
 */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { calledOf, faultsOf, isText } from './source.ts'

const written = /(?<![\w.-])(least|greatest)\s*\(/gi
/** Of a sentence, such as `at least (…)`. */
const inSentence = /\bat\s+$/i

export const nullFaults = (root: string): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['db', 'runtime', 'operations'],
    suspicious: /least|greatest/i,
    leaves: (file) => file === 'runtime/database/sql.ts' || file.startsWith('db/migrations/'),
    wrongOf: (node) => {
      const names = isText(node) ? namesIn(node) : []
      return names.map((name) => ({
        wrong: `writes ${name}, which leaves out what is null`,
        remedy: `take ${name}(…) of #runtime/sql, null where one is null, or ${name}Known(…), of those that are known`,
      }))
    },
    listedIn: 'scripts/checks/nulls.ts',
  })

function namesIn(node: ts.StringLiteralLike | ts.TemplateLiteralLikeNode): string[] {
  const { text, parent } = node
  // `eb.fn('greatest', […])`.
  if (/^(?:least|greatest)$/i.test(text) && ts.isCallExpression(parent) && calledOf(parent) === 'fn') {
    return [text.toLowerCase()]
  }
  return [...text.matchAll(written)]
    .filter((match) => !inSentence.test(text.slice(0, match.index)))
    .map((match) => match[1]!.toLowerCase())
}
