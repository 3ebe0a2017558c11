/**
 * Tenant isolation: a Kysely plugin that scopes every statement to one store. Handlers get a database with this plugin
 * and cannot remove it, so that a forgotten `where` leaks nothing.
 * - tables in FROM, JOIN, USING and subqueries, and the targets of UPDATE and DELETE, get `store_id = …`
 * - INSERT gets the column `store_id` filled in; setting it is refused; ON CONFLICT updates only the store's rows
 * - raw SQL may contain expressions, but naming one of our tables in it is refused
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
import {
  aliasName,
  findTableName,
  ScopePlugin,
  ScopeTransformer,
  TenantScopeError,
  tableName,
} from './scoping.ts'
import { tenantColumn } from './tables.ts'

export { TenantScopeError }

const storeColumn = 'store_id'
const equals = OperatorNode.create('=')
const storeReference = (table: string): ReferenceNode =>
  ReferenceNode.create(ColumnNode.create(storeColumn), TableNode.create(table))

export class TenantScope extends ScopePlugin {
  constructor(storeId: unknown) {
    super(new TenantScopeTransformer(storeId))
  }
}

class TenantScopeTransformer extends ScopeTransformer {
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
    throw new TenantScopeError('MERGE is not confined to a store: use INSERT … ON CONFLICT')
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const walled = super.transformInsertQuery(node)
    const table = walled.into ? tableName(walled.into) : null
    if (!table) throw new TenantScopeError('INSERT without a table')
    const column = tenantColumn(table)
    if (column !== storeColumn) throw new TenantScopeError(`A store's code may not insert into ${table}`)
    const columns = walled.columns ?? []
    if (columns.some((each) => each.column.name === storeColumn)) {
      throw new TenantScopeError(`${table}.store_id is filled in by the wall: leave it out`)
    }
    return {
      ...walled,
      columns: [...columns, ColumnNode.create(storeColumn)],
      ...(walled.values ? { values: this.#fill(walled.values) } : {}),
      ...(walled.onConflict?.updates ? { onConflict: this.#own(walled.onConflict, walled.into!) } : {}),
    }
  }

  /**
   * Restricts ON CONFLICT to the store's own rows: if a key is unique over all stores, another store may have the row.
   */
  #own(conflict: OnConflictNode, table: OperationNode): OnConflictNode {
    for (const update of conflict.updates ?? []) refuseStoreColumn(update)
    // Compared with `excluded.store_id` rather than with a parameter, which a cluster does not accept in the conflict
    // clause of INSERT … SELECT.
    const own = BinaryOperationNode.create(
      storeReference(aliasName(table) ?? tableName(table)!),
      equals,
      storeReference('excluded'),
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
    throw new TenantScopeError('INSERT takes values or a select')
  }

  protected override transformRaw(node: RawNode): RawNode {
    const named = findRawTable(node.sqlFragments)
    if (named !== null) {
      throw new TenantScopeError(
        `Raw SQL names the table ${named}: use sql.table() inside a builder, or the builder`,
      )
    }
    if (node.parameters.some((each) => tableName(each) !== null || isTable(each))) {
      throw new TenantScopeError('A table inside raw SQL is not confined to its store: use the builder')
    }
    return super.transformRaw(node)
  }

  protected condition(table: OperationNode): BinaryOperationNode | null {
    const name = tableName(table)
    if (!name) return null
    const column = tenantColumn(name)
    if (column === null) return null
    if (column === 'system') throw new TenantScopeError(`${name} is out of reach for the code of a store`)
    const alias = aliasName(table) ?? name
    const reference = ReferenceNode.create(ColumnNode.create(column), TableNode.create(alias))
    return BinaryOperationNode.create(reference, equals, ValueNode.create(this.#storeId))
  }
}

/**
 * The results by the template literal's pieces, which are the same array at each call from the same place in the code.
 */
const rawTables = new WeakMap<readonly string[], string | null>()
function findRawTable(fragments: readonly string[]): string | null {
  let named = rawTables.get(fragments)
  if (named === undefined) {
    named = findTableName(fragments.join(' ? '))
    rawTables.set(fragments, named)
  }
  return named
}

/** Whether a node is a table that was built by `sql.id`. */
const isTable = (node: OperationNode): boolean => IdentifierNode.is(node) && tenantColumn(node.name) !== null

function refuseStoreColumn(update: ColumnUpdateNode): void {
  // `set('store_id', …)` references it, `set({ store_id: … })` names it.
  const named = ReferenceNode.is(update.column) ? update.column.column : update.column
  if (ColumnNode.is(named) && named.column.name === storeColumn)
    throw new TenantScopeError('A row cannot move to another store')
}
