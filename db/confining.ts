/** Statements whose tables of stores get a condition each: in FROM, JOIN, USING and sub-queries, and as what is written to. */
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

/** A statement tried to look over the wall: a fault of our code, never of a caller. */
export class WallError extends Error {}

export class Confined implements KyselyPlugin {
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

export abstract class Confining extends OperationNodeTransformer {
  /** Of a table node, through its alias; null for one that is of no store. */
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
      throw new WallError(`${confined.joinType} on a table of a store: write it as an inner or left join`)
    }
    if (confined.on && holds(confined.on.on, condition)) return confined
    const on = OnNode.create(confined.on ? both(confined.on.on, condition) : condition)
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

  /** Kysely shows a sub-query once for each level around it: what it has already is not added again. */
  #where({ where, joins = [] }: Joined, tables: readonly OperationNode[]): { where?: WhereNode } {
    // It keeps rows of the other side alone, without a store, which a condition behind the join would drop.
    const keepsOther = joins.find(({ joinType }) => /Right|Full/.test(joinType))
    if (keepsOther && [...tables, ...joins.map(({ table }) => table)].some((each) => this.condition(each))) {
      throw new WallError(
        `${keepsOther.joinType} beside a table of a store: write it as an inner or left join`,
      )
    }
    let added: OperationNode | null = null
    for (const table of tables) {
      const one = this.condition(table)
      if (one && !(where && holds(where.where, one))) added = added ? AndNode.create(added, one) : one
    }
    if (!added) return where ? { where } : {}
    return { where: WhereNode.create(where ? both(where.where, added) : added) }
  }
}

/** Whether an expression cannot be true without the condition: it is a link of its chain of ANDs. */
function holds(written: OperationNode, condition: BinaryOperationNode): boolean {
  if (written.kind === 'ParensNode') return holds((written as ParensNode).node, condition)
  if (written.kind === 'AndNode') {
    const { left, right } = written as AndNode
    return holds(left, condition) || holds(right, condition)
  }
  return written.kind === 'BinaryOperationNode' && isSame(written as BinaryOperationNode, condition)
}

/** Whether two comparisons are `table.column = value` of the same three. */
function isSame(one: BinaryOperationNode, other: BinaryOperationNode): boolean {
  const [a, b] = [partsOf(one), partsOf(other)]
  return (
    a !== null && b !== null && a.table === b.table && a.column === b.column && Object.is(a.value, b.value)
  )
}

function partsOf({ leftOperand, operator, rightOperand }: BinaryOperationNode) {
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

/** In parentheses: a raw `a or b` must not slip past the wall. */
function both(written: OperationNode, condition: OperationNode): OperationNode {
  return AndNode.create(ParensNode.create(written), condition)
}

/** The name of a table node, through an alias; null for sub-queries, functions and the like. */
export function tableName(node: OperationNode): string | null {
  if (node.kind === 'AliasNode') return tableName((node as unknown as { node: OperationNode }).node)
  if (node.kind !== 'TableNode') return null
  const { schema, identifier } = (node as TableNode).table
  if (schema) throw new WallError(`${schema.name}.${identifier.name} is out of reach for the code of a store`)
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

/** The first table of the database that raw SQL names where a table belongs, or null. Alone, a builder may put it there. */
export function namesTable(text: string): string | null {
  const whole = knownTable(alone.exec(text)?.[1] ?? '')
  if (whole) return whole
  /** Of each parenthesis that is open: whether it is in a list of tables. */
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
      const named = isExpected ? knownTable(piece) : null
      if (named) return named
      isExpected = false
    }
  }
  return null
}

function knownTable(piece: string): string | null {
  const [name, schema, ...more] = piece.replace(/["\s]/g, '').toLowerCase().split('.').reverse()
  const isOurs = name && more.length === 0 && (schema ?? 'public') === 'public'
  return isOurs && tenantColumn(name) !== null ? name : null
}
