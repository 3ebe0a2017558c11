/**
 * The tenant wall: a Kysely plugin that confines every statement to one store. Handlers get a database with it
 * and cannot take it off, so that no query depends on somebody remembering a `where`.
 *
 * - tables in FROM, JOIN, USING and sub-queries, and the targets of UPDATE and DELETE, get `store_id = …`
 * - INSERT gets the column `store_id` filled in; naming it oneself is refused
 * - raw SQL may hold expressions, but naming a table of the database in it is refused
 */
import {
  BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  type InsertQueryNode,
  type MergeQueryNode,
  type OperationNode,
  OperatorNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  SelectionNode,
  type SelectQueryNode,
  TableNode,
  type UpdateQueryNode,
  ValueListNode,
  ValueNode,
  type ValuesNode,
} from 'kysely'
import { aliasName, Confined, Confining, namesTable, tableName, WallError } from './confining.ts'
import { tenantColumn } from './tables.ts'

export { WallError }

const storeColumn = 'store_id'
const equals = OperatorNode.create('=')

export class TenantWall extends Confined {
  constructor(storeId: unknown) {
    super(new WallTransformer(storeId))
  }
}

class WallTransformer extends Confining {
  readonly #storeId: unknown
  constructor(storeId: unknown) {
    super()
    this.#storeId = storeId
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    for (const update of node.updates ?? []) refuseStoreColumn(update)
    return super.transformUpdateQuery(node)
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

  protected condition(table: OperationNode): BinaryOperationNode | null {
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

function refuseStoreColumn(update: ColumnUpdateNode): void {
  const column = update.column.kind === 'ColumnNode' ? (update.column as ColumnNode).column.name : null
  if (column === storeColumn) throw new WallError('A row cannot move to another store')
}
