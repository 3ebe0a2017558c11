/**
 * Adds a condition to every tenant table in a statement: in FROM, JOIN, USING and subqueries, and to the target of a
 * write. Tenant isolation and queries for some stores are built on this.
 */
import {
  AndNode,
  type BinaryOperationNode,
  type ColumnNode,
  type DeleteQueryNode,
  type IdentifierNode,
  type JoinNode,
  type KyselyPlugin,
  OnNode,
  type OperationNode,
  OperationNodeTransformer,
  type OperatorNode,
  ParensNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryResult,
  type ReferenceNode,
  type RootOperationNode,
  type SelectQueryNode,
  type TableNode,
  type UnknownRow,
  type UpdateQueryNode,
  type ValueNode,
  WhereNode,
} from 'kysely'
import { tenantColumn } from './tables.ts'

/** Thrown for a statement that violates tenant isolation: a bug in our code, never a caller's error. */
export class TenantScopeError extends Error {}

export class ScopePlugin implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer
  constructor(transformer: OperationNodeTransformer) {
    this.#transformer = transformer
  }
  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node)
  }
  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result
  }
}

type Joined = Pick<SelectQueryNode, 'where' | 'joins'>

export abstract class ScopeTransformer extends OperationNodeTransformer {
  /** Builds the condition for a table, which may have an alias; null if it is not a tenant table. */
  protected abstract condition(table: OperationNode): BinaryOperationNode | null

  protected override transformSelectQuery(node: SelectQueryNode): SelectQueryNode {
    const confined = super.transformSelectQuery(node)
    return { ...confined, ...this.#where(confined, confined.from?.froms ?? []) }
  }

  protected override transformJoin(node: JoinNode): JoinNode {
    const confined = super.transformJoin(node)
    const condition = this.condition(confined.table)
    if (!condition) return confined
    if (!/^(Inner|Left|LateralInner|LateralLeft)Join$/.test(confined.joinType)) {
      throw new TenantScopeError(
        `${confined.joinType} on a table of a store: write it as an inner or left join`,
      )
    }
    if (confined.on && implies(confined.on.on, condition)) return confined
    const on = OnNode.create(confined.on ? conjoin(confined.on.on, condition) : condition)
    return { ...confined, on }
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    const confined = super.transformUpdateQuery(node)
    const tables = [...(confined.table ? [confined.table] : []), ...(confined.from?.froms ?? [])]
    return { ...confined, ...this.#where(confined, tables) }
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const confined = super.transformDeleteQuery(node)
    return {
      ...confined,
      ...this.#where(confined, [...confined.from.froms, ...(confined.using?.tables ?? [])]),
    }
  }

  /** Adds the conditions that are missing: Kysely visits a subquery several times, once for each enclosing level. */
  #where({ where, joins = [] }: Joined, tables: readonly OperationNode[]): { where?: WhereNode } {
    // RIGHT and FULL JOIN are refused: they produce rows in which this table's columns are null, and a condition in
    // WHERE would drop them.
    const keepsOther = joins.find(({ joinType }) => /Right|Full/.test(joinType))
    if (keepsOther && [...tables, ...joins.map(({ table }) => table)].some((each) => this.condition(each))) {
      throw new TenantScopeError(
        `${keepsOther.joinType} beside a table of a store: write it as an inner or left join`,
      )
    }
    let added: OperationNode | null = null
    for (const table of tables) {
      const one = this.condition(table)
      if (one && !(where && implies(where.where, one))) added = added ? AndNode.create(added, one) : one
    }
    if (!added) return where ? { where } : {}
    return { where: WhereNode.create(where ? conjoin(where.where, added) : added) }
  }
}

/** Whether an expression implies the condition: it is one of its operands joined by AND. */
function implies(written: OperationNode, condition: BinaryOperationNode): boolean {
  if (written.kind === 'ParensNode') return implies((written as ParensNode).node, condition)
  if (written.kind === 'AndNode') {
    const { left, right } = written as AndNode
    return implies(left, condition) || implies(right, condition)
  }
  return written.kind === 'BinaryOperationNode' && isSameComparison(written as BinaryOperationNode, condition)
}

/** Whether both comparisons are the same `table.column = value`. */
function isSameComparison(one: BinaryOperationNode, other: BinaryOperationNode): boolean {
  const [a, b] = [parseComparison(one), parseComparison(other)]
  return (
    a !== null && b !== null && a.table === b.table && a.column === b.column && Object.is(a.value, b.value)
  )
}

function parseComparison({ leftOperand, operator, rightOperand }: BinaryOperationNode) {
  if (leftOperand.kind !== 'ReferenceNode' || rightOperand.kind !== 'ValueNode') return null
  if (operator.kind !== 'OperatorNode' || (operator as OperatorNode).operator !== '=') return null
  const { table, column } = leftOperand as ReferenceNode
  if (!table || table.table.schema || column.kind !== 'ColumnNode') return null
  return {
    table: table.table.identifier.name,
    column: (column as ColumnNode).column.name,
    value: (rightOperand as ValueNode).value,
  }
}

/**
 * Joins two expressions by AND. The written one gets parentheses, so that a raw `a or b` does not bypass the condition.
 */
function conjoin(written: OperationNode, condition: OperationNode): OperationNode {
  return AndNode.create(ParensNode.create(written), condition)
}

/** The name of a table node, through an alias; null for subqueries, functions and the like. */
export function tableName(node: OperationNode): string | null {
  if (node.kind === 'AliasNode') return tableName((node as unknown as { node: OperationNode }).node)
  if (node.kind !== 'TableNode') return null
  const { schema, identifier } = (node as TableNode).table
  if (schema)
    throw new TenantScopeError(`${schema.name}.${identifier.name} is out of reach for the code of a store`)
  return identifier.name
}

export function aliasName(node: OperationNode): string | null {
  if (node.kind !== 'AliasNode') return null
  const alias = (node as unknown as { alias: OperationNode }).alias
  return alias.kind === 'IdentifierNode' ? (alias as IdentifierNode).name : null
}

const pieces = /'[^']*'|[(),]|(?:"?\w+"?\s*\.\s*)*"?[a-z_]\w*"?/gi
const opensList = /^(?:from|join|into|update|only|table|using|lateral)$/i
const endsList = /^(?:select|where|on|group|order|having|limit|set|values|returning|union|except|intersect)$/i
const alone = /^\s*([\w."]+)(?:\s+(?:as\s+)?"?\w+"?)?\s*$/i

/**
 * Finds the first of our tables at the position of a table in raw SQL; null if there is none. A text that is only a
 * name counts, since a query builder may use it as a table.
 */
export function findTableName(text: string): string | null {
  const whole = toKnownTable(alone.exec(text)?.[1] ?? '')
  if (whole) return whole
  /** For each open parenthesis: whether it is inside a list of tables, where a comma precedes another table. */
  const lists = [false]
  let isExpected = false
  for (const [piece] of text.matchAll(pieces)) {
    if (piece === '(') lists.push(isExpected)
    else if (piece === ')') lists.pop()
    else if (piece === ',') isExpected = lists.at(-1) ?? false
    else if (opensList.test(piece) || endsList.test(piece)) {
      isExpected = opensList.test(piece)
      lists.splice(-1, 1, isExpected)
    } else {
      const named = isExpected ? toKnownTable(piece) : null
      if (named) return named
      isExpected = false
    }
  }
  return null
}

function toKnownTable(piece: string): string | null {
  const [name, schema, ...more] = piece.replace(/["\s]/g, '').toLowerCase().split('.').reverse()
  const isOurs = name && more.length === 0 && (schema ?? 'public') === 'public'
  return isOurs && tenantColumn(name) !== null ? name : null
}
