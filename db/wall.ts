/**
 * The tenant wall: a Kysely plugin that confines every statement to one store. Handlers get a database with it
 * and cannot take it off, so that no query depends on somebody remembering a `where`.
 *
 * - tables in FROM, JOIN, USING and sub-queries, and the targets of UPDATE and DELETE, get `store_id = …`
 * - INSERT gets the column `store_id` filled in; naming it oneself is refused
 * - raw SQL may hold expressions, but naming a table of the database in it is refused
 */
import {
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  type DeleteQueryNode,
  type IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  type KyselyPlugin,
  type MergeQueryNode,
  OnNode,
  type OperationNode,
  OperationNodeTransformer,
  OperatorNode,
  ParensNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PrimitiveValueListNode,
  type QueryResult,
  RawNode,
  ReferenceNode,
  type RootOperationNode,
  SelectionNode,
  type SelectQueryNode,
  TableNode,
  type UnknownRow,
  type UpdateQueryNode,
  ValueListNode,
  ValueNode,
  type ValuesNode,
  WhereNode,
} from 'kysely'
import { tenantColumn } from './tables.ts'

const storeColumn = 'store_id'
const equals = OperatorNode.create('=')

/** A statement tried to look over the wall: a fault of our code, never of a caller. */
export class WallError extends Error {}

export class TenantWall implements KyselyPlugin {
  readonly #transformer: WallTransformer
  constructor(storeId: unknown) {
    this.#transformer = new WallTransformer(storeId)
  }
  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node)
  }
  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result
  }
}

class WallTransformer extends OperationNodeTransformer {
  readonly #storeId: unknown
  constructor(storeId: unknown) {
    super()
    this.#storeId = storeId
  }

  protected override transformSelectQuery(node: SelectQueryNode): SelectQueryNode {
    const walled = super.transformSelectQuery(node)
    return { ...walled, ...this.#where(walled.where, walled.from?.froms ?? []) }
  }

  protected override transformJoin(node: JoinNode): JoinNode {
    const walled = super.transformJoin(node)
    const condition = this.#condition(walled.table)
    if (!condition || (walled.on && holds(walled.on.on, condition))) return walled
    if (!/^(Inner|Left|LateralInner|LateralLeft)Join$/.test(walled.joinType)) {
      throw new WallError(`${walled.joinType} on a table of a store: write it as an inner or left join`)
    }
    const on = OnNode.create(walled.on ? both(walled.on.on, condition) : condition)
    return { ...walled, on }
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    const walled = super.transformUpdateQuery(node)
    for (const update of walled.updates ?? []) refuseStoreColumn(update)
    const tables = [...(walled.table ? [walled.table] : []), ...(walled.from?.froms ?? [])]
    return { ...walled, ...this.#where(walled.where, tables) }
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const walled = super.transformDeleteQuery(node)
    return {
      ...walled,
      ...this.#where(walled.where, [...walled.from.froms, ...(walled.using?.tables ?? [])]),
    }
  }

  protected override transformMergeQuery(_node: MergeQueryNode): MergeQueryNode {
    throw new WallError('MERGE is not confined to a store: use INSERT … ON CONFLICT')
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const walled = super.transformInsertQuery(node)
    const table = walled.into ? tableName(walled.into) : null
    if (!table) throw new WallError('INSERT without a table')
    const column = tenantColumn(table)
    if (column !== storeColumn) throw new WallError(`A store's code may not insert into ${table}`)
    const columns = walled.columns ?? []
    if (columns.some((each) => each.column.name === storeColumn)) {
      throw new WallError(`${table}.store_id is filled in by the wall: leave it out`)
    }
    return {
      ...walled,
      columns: [...columns, ColumnNode.create(storeColumn)],
      ...(walled.values ? { values: this.#fill(walled.values) } : {}),
    }
  }

  #fill(values: OperationNode): OperationNode {
    if (values.kind === 'ValuesNode') {
      const rows = (values as ValuesNode).values.map((row) =>
        row.kind === 'PrimitiveValueListNode'
          ? PrimitiveValueListNode.create([...(row as PrimitiveValueListNode).values, this.#storeId])
          : ValueListNode.create([...(row as ValueListNode).values, ValueNode.create(this.#storeId)]),
      )
      return { ...values, values: rows } as ValuesNode
    }
    if (values.kind === 'SelectQueryNode') {
      const select = values as SelectQueryNode
      const store = SelectionNode.create(
        RawNode.create(['', '::uuid'], [ValueNode.create(this.#storeId)]) as never,
      )
      return { ...select, selections: [...(select.selections ?? []), store] } as SelectQueryNode
    }
    throw new WallError('INSERT takes values or a select')
  }

  protected override transformRaw(node: RawNode): RawNode {
    for (const fragment of node.sqlFragments) {
      const named = namesTable(fragment)
      if (named) {
        throw new WallError(
          `Raw SQL names the table ${named}: use sql.table() inside a builder, or the builder`,
        )
      }
    }
    if (node.parameters.some((each) => tableName(each) !== null)) {
      throw new WallError('A table inside raw SQL is not confined to its store: use the builder')
    }
    return super.transformRaw(node)
  }

  /** Kysely shows a sub-query to the wall once for each level around it: what it has already is not added again. */
  #where(where: WhereNode | undefined, tables: readonly OperationNode[]): { where?: WhereNode } {
    let added: OperationNode | null = null
    for (const table of tables) {
      const one = this.#condition(table)
      if (one && !(where && holds(where.where, one))) added = added ? AndNode.create(added, one) : one
    }
    if (!added) return where ? { where } : {}
    return { where: WhereNode.create(where ? both(where.where, added) : added) }
  }

  #condition(table: OperationNode): BinaryOperationNode | null {
    const name = tableName(table)
    if (!name) return null
    const column = tenantColumn(name)
    if (column === null) return null
    if (column === 'system') throw new WallError(`${name} is out of reach for the code of a store`)
    const alias = aliasName(table) ?? name
    const reference = ReferenceNode.create(ColumnNode.create(column), TableNode.create(alias))
    return BinaryOperationNode.create(reference, equals, ValueNode.create(this.#storeId))
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
function tableName(node: OperationNode): string | null {
  if (node.kind === 'AliasNode') return tableName((node as unknown as { node: OperationNode }).node)
  if (node.kind !== 'TableNode') return null
  const { schema, identifier } = (node as TableNode).table
  if (schema) throw new WallError(`${schema.name}.${identifier.name} is out of reach for the code of a store`)
  return identifier.name
}

function aliasName(node: OperationNode): string | null {
  if (node.kind !== 'AliasNode') return null
  const alias = (node as unknown as { alias: OperationNode }).alias
  return alias.kind === 'IdentifierNode' ? (alias as IdentifierNode).name : null
}

function refuseStoreColumn(update: ColumnUpdateNode): void {
  const column = update.column.kind === 'ColumnNode' ? (update.column as ColumnNode).column.name : null
  if (column === storeColumn) throw new WallError('A row cannot move to another store')
}

const tableMention = /\b(?:from|join|into|update|only|table|using)\s+"?([a-z_]+)"?(?!\s*\()/gi

/** The first table of the database that a piece of raw SQL names, or null. */
function namesTable(fragment: string): string | null {
  for (const [, name] of fragment.matchAll(tableMention)) {
    if (name && tenantColumn(name.toLowerCase()) !== null) return name
  }
  return null
}
