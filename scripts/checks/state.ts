/** Nothing is kept in a module of operations/ between two calls: checked on the files' syntax. */
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { type Exception, faultsOf } from './source.ts'

const wrongOf = (name: string): string => `keeps ${name} between calls`
const changing: readonly string[] = [
  'set',
  'add',
  'delete',
  'clear',
  'push',
  'unshift',
  'splice',
  'pop',
  'shift',
  'sort',
  'reverse',
]

/** What may be kept, and why. */
const allowed: readonly Exception[] = [
  {
    file: 'operations/discovery/mcp/describe.ts',
    wrong: wrongOf('made'),
    why: 'made once of an operation, which is what it is while the server runs',
  },
  {
    file: 'operations/discovery/mcp/search.ts',
    wrong: wrongOf('searches'),
    why: 'made once of a registry, which is what it is while the server runs',
  },
  {
    file: 'operations/messaging/sending/recently.ts',
    wrong: wrongOf('kept'),
    why: 'a quarter of a second, and for no longer than the context that asks lives',
  },
  {
    file: 'operations/storefront/catalog/pace.ts',
    wrong: wrongOf('slow'),
    why: 'calls of this process take turns: a platform that asks to slow down says so to each process',
  },
  {
    file: 'operations/storefront/script/modules.ts',
    wrong: wrongOf('made'),
    why: 'a cache of the files of this server, which are what they are while it runs',
  },
  {
    file: 'operations/storefront/script/modules.ts',
    wrong: wrongOf('loaders'),
    why: 'a cache with a bound, by the whole text that it keeps compressed',
  },
  {
    file: 'operations/storefront/script/seen.ts',
    wrong: wrongOf('written'),
    why: 'a bound on writes of this process: without it the same would be written more often',
  },
  ...['entries', 'characters', 'building'].map((name) => ({
    file: 'operations/storefront/widgets/published.ts',
    wrong: wrongOf(name),
    why: 'a cache with bounds, whose copies are good for one stamp of the store',
  })),
]

export const stateFaults = (root: string, exceptions = allowed): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['operations'],
    suspicious: /^(?:export )?(?:const|let) /m,
    exceptions,
    listedIn: 'scripts/checks/state.ts',
    wrongOf: (node) =>
      ts.isSourceFile(node.parent ?? node) && ts.isVariableStatement(node)
        ? node.declarationList.declarations
            .filter((each) => isKept(node, each))
            .map(({ name }) => ({
              wrong: wrongOf(name.getText()),
              remedy:
                'let sections wire it (points.ts), keep it in the database or hand it over as an argument',
            }))
        : [],
  })

/** A `let`, or a collection that some function of the file changes. */
function isKept(statement: ts.VariableStatement, { name, initializer }: ts.VariableDeclaration): boolean {
  if (!ts.isIdentifier(name)) return false
  if (!(statement.declarationList.flags & ts.NodeFlags.Const)) return true
  return (
    initializer !== undefined && isCollection(initializer) && isChanged(statement.getSourceFile(), name.text)
  )
}

const isCollection = (node: ts.Expression): boolean =>
  (ts.isNewExpression(node) && /^(?:Weak)?(?:Map|Set)$/.test(node.expression.getText())) ||
  ts.isArrayLiteralExpression(node) ||
  ts.isObjectLiteralExpression(node)

function isChanged(source: ts.SourceFile, name: string): boolean {
  let found = false
  const visit = (node: ts.Node, inFunction: boolean): void => {
    if (found) return
    if (inFunction && changes(node, name)) found = true
    const within = inFunction || ts.isFunctionLike(node)
    ts.forEachChild(node, (child) => visit(child, within))
  }
  visit(source, false)
  return found
}

/** `name.set(…)`, `name[…] = …`, `name.a = …`, `delete name[…]`, `Object.assign(name, …)`. */
function changes(node: ts.Node, name: string): boolean {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name: method } = node.expression
    if (isNamed(expression, name)) return changing.includes(method.text)
    return (
      node.expression.getText() === 'Object.assign' &&
      node.arguments[0] !== undefined &&
      isNamed(node.arguments[0], name)
    )
  }
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken
    const assigns = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment
    return assigns && isPartOf(node.left, name)
  }
  return ts.isDeleteExpression(node) && isPartOf(node.expression, name)
}

const isNamed = (node: ts.Node, name: string): boolean => ts.isIdentifier(node) && node.text === name
const isPartOf = (node: ts.Node, name: string): boolean =>
  (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
  isNamed(node.expression, name)
