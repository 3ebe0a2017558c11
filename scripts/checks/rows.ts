/**
 * One row by a caller's id, and a name that is had once, are written in one place (`runtime/database/rows.ts`): nobody guards a
 * query by the form of an id, refuses what a query by its id did not find, or names a unique index that failed.
 */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { calledOf, type Exception, faultsOf } from './source.ts'

const guards = 'guards a query by the form of its id'
const looksUp = 'refuses by itself what a query by its id does not find'
const catches = 'tells by itself that a unique index has another row'

const notShared: readonly Exception[] = [
  {
    file: 'operations/automations/entering/manually.ts',
    wrong: looksUp,
    why: 'ids of the platform, which have a form of their own',
  },
  {
    file: 'operations/store/connections/ecommerce-hook.ts',
    wrong: guards,
    why: 'a store by its id: its context, no row of it',
  },
]

export const rowFaults = (root: string, exceptions = notShared): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['operations'],
    suspicious: /isId|executeTakeFirst|isDuplicate/,
    exceptions,
    listedIn: 'scripts/checks/rows.ts',
    wrongOf: (node) => [...wrongsOf(node)],
  })

function* wrongsOf(node: ts.Node): Generator<{ wrong: string; remedy: string }> {
  if (ts.isConditionalExpression(node) && has(node.condition, (each) => calledOf(each) === 'isId')) {
    const branches = [node.whenTrue, node.whenFalse]
    if (branches.some(isNothing) && branches.some((branch) => has(branch, ts.isAwaitExpression))) {
      yield {
        wrong: guards,
        remedy:
          'take findRow(query, id) or oneRow(query, id, none), of a compiled query preparedRow(none, …), of #runtime/database/rows',
      }
    }
  }
  if (isLookUp(node)) {
    yield {
      wrong: looksUp,
      remedy: 'take oneRow(query, id, none) of #runtime/database/rows, which looks at the form of the id too',
    }
  }
  if (ts.isCatchClause(node) && has(node.block, (each) => calledOf(each) === 'isDuplicate')) {
    const refusals = allOf(node.block, (each) => calledOf(each) === 'refuse')
    const throws = allOf(node.block, ts.isThrowStatement)
    // Two ways out: it is taken, or what failed fails. More of them is something else.
    if (refusals.length === 1 && throws.length <= 2 && node.block.statements.length <= 2) {
      yield { wrong: catches, remedy: 'take unlessTaken(index, taken, write) of #runtime/database/rows' }
    }
  }
}

/** `undefined`, `null` or `[]`. */
const isNothing = (node: ts.Node): boolean =>
  node.getText() === 'undefined' || node.getText() === 'null' || node.getText() === '[]'

/** `const row = await ….where('id', '=', …)….executeTakeFirst()`, and then `if (!row) throw refuse('not_found', …)`. */
function isLookUp(node: ts.Node): boolean {
  if (!ts.isVariableStatement(node)) return false
  const [declared, ...others] = node.declarationList.declarations
  if (!declared?.initializer || others.length > 0 || !ts.isIdentifier(declared.name)) return false
  if (!has(declared.initializer, (each) => calledOf(each) === 'executeTakeFirst')) return false
  if (!has(declared.initializer, isById)) return false
  const { parent } = node
  if (!ts.isBlock(parent) && !ts.isSourceFile(parent)) return false
  const next = parent.statements[parent.statements.indexOf(node) + 1]
  return (
    next !== undefined &&
    ts.isIfStatement(next) &&
    next.expression.getText() === `!${declared.name.text}` &&
    has(next.thenStatement, isNotFound)
  )
}

/** `.where('id', '=', …)`, of a table with an alias too. */
function isById(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || calledOf(node) !== 'where') return false
  const [column, is] = node.arguments
  return (
    column !== undefined &&
    ts.isStringLiteral(column) &&
    /^(?:\w+\.)?id$/.test(column.text) &&
    is !== undefined &&
    ts.isStringLiteral(is) &&
    is.text === '='
  )
}

function isNotFound(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || calledOf(node) !== 'refuse') return false
  const [code] = node.arguments
  return code !== undefined && ts.isStringLiteral(code) && code.text === 'not_found'
}

const has = (node: ts.Node, is: (each: ts.Node) => boolean): boolean => allOf(node, is).length > 0

function allOf(node: ts.Node, is: (each: ts.Node) => boolean): ts.Node[] {
  const found = is(node) ? [node] : []
  ts.forEachChild(node, (child) => {
    found.push(...allOf(child, is))
  })
  return found
}
