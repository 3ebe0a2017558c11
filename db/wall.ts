/**
 * The tenant wall: a Kysely plugin that confines every statement to one store. Handlers get a database with it
 * and cannot take it off, so that no query depends on somebody remembering a `where`.
 *
 * - tables in FROM, JOIN, USING and sub-queries, and the targets of UPDATE and DELETE, get `store_id = …`
 * - INSERT gets the column `store_id` filled in; naming it oneself is refused; ON CONFLICT changes the store's rows alone
 * - raw SQL may hold expressions, but naming a table of the database in it is refused
 */
import {
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  IdentifierNode,
  type InsertQueryNode,
  type MergeQueryNode,
  type OnConflictNode,
  type OperationNode,
  OperatorNode,
  ParensNode,
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
  WhereNode,
} from 'kysely'
import { aliasName, Confined, Confining, namesTable, tableName, WallError } from './confining.ts'
import { tenantColumn } from './tables.ts'

export { WallError }

const storeColumn = 'store_id'
const equals = OperatorNode.create('=')
const storeOf = (table: string): ReferenceNode =>
  ReferenceNode.create(ColumnNode.create(storeColumn), TableNode.create(table))

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
      ...(walled.onConflict?.updates ? { onConflict: this.#own(walled.onConflict, walled.into!) } : {}),
    }
  }

  /** What it conflicts with may be another store's row, by a key that is one over all stores. */
  #own(conflict: OnConflictNode, table: OperationNode): OnConflictNode {
    for (const update of conflict.updates ?? []) refuseStoreColumn(update)
    // By what is inserted: behind an insert from a select a cluster takes no value of the conflict's own.
    const own = BinaryOperationNode.create(
      storeOf(aliasName(table) ?? tableName(table)!),
      equals,
      storeOf('excluded'),
    )
    const where = conflict.updateWhere?.where
    return {
      ...conflict,
      updateWhere: WhereNode.create(where ? AndNode.create(ParensNode.create(where), own) : own),
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
    const named = namedIn(node.sqlFragments)
    if (named !== null) {
      throw new WallError(
        `Raw SQL names the table ${named}: use sql.table() inside a builder, or the builder`,
      )
    }
    if (node.parameters.some((each) => tableName(each) !== null || isTable(each))) {
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

/** Read once for each place in the code: the pieces of a template are the same array whenever it runs. */
const known = new WeakMap<readonly string[], string | null>()
function namedIn(fragments: readonly string[]): string | null {
  let named = known.get(fragments)
  if (named === undefined) {
    named = namesTable(fragments.join(' ? '))
    known.set(fragments, named)
  }
  return named
}

/** As `sql.id` gives it. */
const isTable = (node: OperationNode): boolean => IdentifierNode.is(node) && tenantColumn(node.name) !== null

function refuseStoreColumn(update: ColumnUpdateNode): void {
  // `set('store_id', …)` refers to it, `set({ store_id: … })` names it.
  const named = ReferenceNode.is(update.column) ? update.column.column : update.column
  if (ColumnNode.is(named) && named.column.name === storeColumn)
    throw new WallError('A row cannot move to another store')
}
