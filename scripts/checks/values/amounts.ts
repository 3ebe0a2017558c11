/**
 * Money is reckoned in one place: `runtime/values/money.ts`, and `inCents` and `percentageOf` of `runtime/database/sql.ts`. Nobody else
 * rounds to hundredths, writes an amount, or has a reckoning of the same name.
 */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import * as money from '#runtime/values/money'
import { calledOf, type Exception, faultsOf, isText } from '../source.ts'

const rounds = 'rounds to hundredths by itself'
const writes = 'writes an amount by itself (toFixed)'
const inSql = 'rounds to hundredths in SQL by itself'
const inEngine =
  'reckon in whole cents, with #runtime/money; what is no money is listed in scripts/checks/values/amounts.ts'

const aRating = 'an average of stars, not money'
const aChance = 'a chance in per cent, not money'
const notMoney: readonly Exception[] = [
  { file: 'operations/reviews/reviews/public.ts', wrong: rounds, why: aRating },
  { file: 'operations/reviews/reviews/metrics.ts', wrong: inSql, why: aRating },
  { file: 'operations/capture/subscribers/draw.ts', wrong: rounds, why: aChance },
  { file: 'operations/capture/popup/rules.ts', wrong: rounds, why: aChance },
  { file: 'operations/product-page/content-blocks/stats.ts', wrong: inSql, why: 'a rate of clicks' },
  { file: 'runtime/contrast.ts', wrong: rounds, why: 'a ratio of luminances' },
  { file: 'runtime/server/log.ts', wrong: rounds, why: 'milliseconds' },
  { file: 'runtime/http/body.ts', wrong: rounds, why: 'mebibytes' },
  { file: 'operations/store/ecommerce/shopify/coupons.ts', wrong: writes, why: 'a percentage' },
]

/** Names that are of this reckoning alone; of the others another meaning is possible. */
const own = new Set<string>(Object.keys(money).filter((name) => name !== 'sumOf'))
const places: readonly string[] = ['runtime/values/money.ts', 'runtime/database/sql.ts']

export const amountFaults = (root: string, exceptions = notMoney): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['db', 'runtime', 'operations'],
    suspicious: new RegExp(`Math\\.|toFixed|round|numeric|trunc|\\b(?:${[...own].join('|')})\\b`, 'i'),
    leaves: (file) => places.includes(file) || file.startsWith('db/migrations/'),
    exceptions,
    listedIn: 'scripts/checks/values/amounts.ts',
    wrongOf: (node) => [...wrongsOf(node)],
  })

function* wrongsOf(node: ts.Node): Generator<{ wrong: string; remedy: string }> {
  if (ts.isCallExpression(node)) {
    const called = calledOf(node)
    if (called === 'toFixed' && isNumber(node.arguments[0], 2)) {
      yield {
        wrong: writes,
        remedy: 'take amountText(…) of a number, toMoney(…) of cents, of #runtime/money',
      }
    }
    if (isRounding(node) && (contains(node.arguments[0]!, isTimesHundred) || isDividedByHundred(node))) {
      yield { wrong: rounds, remedy: inEngine }
    }
  }
  const name = declared(node)
  if (name !== null && own.has(name)) {
    yield {
      wrong: `has a ${name} of its own`,
      remedy: `take ${name}(…) of #runtime/money, or call it otherwise`,
    }
  }
  if ((isText(node) && !isPart(node)) || ts.isTemplateExpression(node)) {
    const text = ts.isTemplateExpression(node)
      ? node.head.text + node.templateSpans.map(({ literal }) => `$${literal.text}`).join('')
      : node.text
    if (/\b(?:numeric|decimal)\s*\(\s*\d+\s*,\s*2\s*\)/i.test(text) || roundsToTwo(text)) {
      yield { wrong: inSql, remedy: 'take inCents(…) or percentageOf(…) of #runtime/sql' }
    }
  }
}

const isPart = (node: ts.Node): boolean => ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
const isNumber = (node: ts.Node | undefined, value: number): boolean =>
  node !== undefined && ts.isNumericLiteral(node) && Number(node.text) === value
const isRounding = (node: ts.CallExpression): boolean =>
  /^Math\.(?:round|floor|ceil|trunc)$/.test(node.expression.getText()) && node.arguments.length === 1
const contains = (node: ts.Node, is: (each: ts.Node) => boolean): boolean =>
  is(node) || (ts.forEachChild(node, (child) => contains(child, is) || undefined) ?? false)
const isTimesHundred = (node: ts.Node): boolean =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind === ts.SyntaxKind.AsteriskToken &&
  (isNumber(node.left, 100) || isNumber(node.right, 100))
const isDividedByHundred = ({ parent }: ts.Node): boolean =>
  ts.isBinaryExpression(parent) &&
  parent.operatorToken.kind === ts.SyntaxKind.SlashToken &&
  isNumber(parent.right, 100)

/** The name that a node declares, of a constant or a function. */
function declared(node: ts.Node): string | null {
  const isDeclaration = ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node)
  if (!isDeclaration || !node.name || !ts.isIdentifier(node.name)) return null
  const isFunction =
    ts.isFunctionDeclaration(node) || (node.initializer !== undefined && ts.isArrowFunction(node.initializer))
  return isFunction ? node.name.text : null
}

/** `round(…, 2)` or `trunc(…, 2)`, whatever is within. */
function roundsToTwo(text: string): boolean {
  for (const { index, 0: found } of text.matchAll(/\b(?:round|trunc)\s*\(/gi)) {
    let depth = 1
    let at = index + found.length
    const from = at
    for (; at < text.length && depth > 0; at += 1) depth += text[at] === '(' ? 1 : text[at] === ')' ? -1 : 0
    if (/,\s*2\s*\)$/.test(text.slice(from, at))) return true
  }
  return false
}
