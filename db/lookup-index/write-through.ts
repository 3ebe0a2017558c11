/**
 * Maintains the lookup index on a cluster: every write to an indexed table updates its entries in the same transaction.
 * Implemented below Kysely, so that no statement can bypass it. On one PostgreSQL the index is a view, and connections
 * are passed on unwrapped.
 */
import {
  AliasNode,
  ColumnNode,
  type ColumnUpdateNode,
  CompiledQuery,
  createQueryId,
  type DatabaseConnection,
  type DeleteQueryNode,
  type Dialect,
  type Driver,
  FromNode,
  IdentifierNode,
  type InsertQueryNode,
  type OperationNode,
  type QueryCompiler,
  type QueryResult,
  RawNode,
  ReferenceNode,
  ReturningNode,
  type RootOperationNode,
  SelectionNode,
  type SelectQueryNode,
  TableNode,
  type TransactionSettings,
  type UpdateQueryNode,
} from 'kysely'
import type { Distribution } from '../citus/distribution.ts'
import { WrappedConnection, WrappedDialect, WrappedDriver } from '../wrapped-dialect.ts'
import { type IndexDefinition, indexDefinitions } from './definitions.ts'

type Write = InsertQueryNode | UpdateQueryNode | DeleteQueryNode
type Keys = Readonly<Record<string, string | null>>

export class LookupIndexDialect extends WrappedDialect {
  readonly #distribution: Distribution
  constructor(inner: Dialect, distribution: Distribution) {
    super(inner)
    this.#distribution = distribution
  }
  createDriver(): Driver {
    const compiler = this.inner.createQueryCompiler()
    return new LookupIndexDriver(this.inner.createDriver(), compiler, this.#distribution)
  }
}

class LookupIndexDriver extends WrappedDriver {
  readonly #compiler: QueryCompiler
  readonly #distribution: Distribution
  constructor(inner: Driver, compiler: QueryCompiler, distribution: Distribution) {
    super(inner)
    this.#compiler = compiler
    this.#distribution = distribution
  }
  async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await this.inner.acquireConnection()
    if (this.#distribution.known === false) return connection
    return new LookupIndexConnection(connection, {
      driver: this.inner,
      compiler: this.#compiler,
      distribution: this.#distribution,
    })
  }
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings)
    if (connection instanceof LookupIndexConnection) connection.isInTransaction = true
  }
}

interface Parts {
  driver: Driver
  compiler: QueryCompiler
  distribution: Distribution
}

class LookupIndexConnection extends WrappedConnection {
  isInTransaction = false
  readonly #parts: Parts
  constructor(inner: DatabaseConnection, parts: Parts) {
    super(inner)
    this.#parts = parts
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const write = findWrite(query.query)
    if (!write || !(await this.#isDistributed())) return this.inner.executeQuery<R>(query)
    if (write.refusal) throw new Error(write.refusal)
    if (this.isInTransaction) return this.#runWithIndex<R>(write.table, write.node)
    await this.#parts.driver.beginTransaction(this.inner, {})
    try {
      const result = await this.#runWithIndex<R>(write.table, write.node)
      await this.#parts.driver.commitTransaction(this.inner)
      return result
    } catch (error) {
      await this.#parts.driver.rollbackTransaction(this.inner)
      throw error
    }
  }

  #isDistributed(): boolean | Promise<boolean> {
    return this.#parts.distribution.isDistributed(async (text) => {
      const { rows } = await this.inner.executeQuery<{ kind: string | null }>(CompiledQuery.raw(text))
      return rows
    })
  }

  /** Runs the write, then updates the index: adds entries of new rows, removes those that no row has any more. */
  async #runWithIndex<R>(table: string, node: Write): Promise<QueryResult<R>> {
    const lines = indexDefinitions[table as keyof typeof indexDefinitions]!
    const columns = [...new Set([getStoreColumn(table), ...lines.flatMap((line) => line.columns)])]
    const before = node.kind === 'UpdateQueryNode' ? await this.#lockRows(table, node, columns) : []
    const written = await this.inner.executeQuery<Record<string, unknown>>(
      this.#compile(returning(node, columns)),
    )
    const rows = written.rows.map((row) => pickColumns(row, columns))
    const [gone, there] = node.kind === 'DeleteQueryNode' ? [rows, []] : [before, rows]
    const added = buildRows(table, lines, there)
    const current = new Set(added.map(serializeRow))
    const removed = buildRows(table, lines, gone).filter((line) => !current.has(serializeRow(line)))
    // Deleting a store cascades to rows that this statement does not return, so all entries of the store are removed.
    if (table === 'stores' && node.kind === 'DeleteQueryNode') await this.#run(forgetText, removed)
    else if (removed.length > 0) await this.#run(removeText, removed)
    if (added.length > 0) await this.#run(addText, added)
    if (removed.length > 0 && table !== 'stores') await this.#restoreShared(table, lines, removed)
    return {
      ...written,
      rows: node.returning ? written.rows.map((row) => omitColumns(row, columns) as R) : [],
    }
  }

  /** Locks and reads the rows that an update will change, since the update itself does not return their old values. */
  async #lockRows(table: string, node: UpdateQueryNode, columns: readonly string[]): Promise<Keys[]> {
    if (node.from || node.with || !node.table) {
      throw new Error(`${table} is listed in the directory: update it by values alone, without FROM and WITH`)
    }
    const select: SelectQueryNode = {
      kind: 'SelectQueryNode',
      from: FromNode.create([node.table]),
      selections: hidden(columns),
      ...(node.where ? { where: node.where } : {}),
      endModifiers: [RawNode.createWithSql('for no key update') as never],
    }
    const { rows } = await this.inner.executeQuery<Record<string, unknown>>(this.#compile(select))
    return rows.map((row) => pickColumns(row, columns))
  }

  /** Adds a removed entry again if another row of the same store still has the value. */
  async #restoreShared(
    table: string,
    lines: readonly IndexDefinition[],
    removed: readonly IndexRow[],
  ): Promise<void> {
    if (lines.every((line) => line.unique)) return
    const columns = [...new Set([getStoreColumn(table), ...lines.flatMap((line) => line.columns)])]
    for (const store of new Set(removed.map((line) => line.store_id))) {
      const names = columns.map((name) => `"${name}"`).join(', ')
      const text = `select ${names} from "${table}" where "${getStoreColumn(table)}" = $1`
      const { rows } = await this.inner.executeQuery<Record<string, string | null>>(
        CompiledQuery.raw(text, [store]),
      )
      const gone = new Set(removed.map(serializeRow))
      const still = buildRows(table, lines, rows).filter((line) => gone.has(serializeRow(line)))
      if (still.length > 0) await this.#run(addText, still)
    }
  }

  async #run(text: string, lines: readonly IndexRow[]): Promise<void> {
    await this.inner.executeQuery(CompiledQuery.raw(text, [JSON.stringify(lines)]))
  }

  #compile(node: RootOperationNode): CompiledQuery {
    return this.#parts.compiler.compileQuery(node, createQueryId())
  }
}

interface IndexRow {
  kind: string
  key: string
  store_id: string
  is_sole: boolean
}

const rowsFromJson = `json_to_recordset($1::json) as l(kind text, key text, store_id uuid, is_sole boolean)`
const addText = `insert into directory (kind, key, store_id, is_sole)
  select distinct kind, key, store_id, is_sole from ${rowsFromJson} on conflict (kind, key, store_id) do nothing`
const removeText = `delete from directory d using ${rowsFromJson}
  where d.kind = l.kind and d.key = l.key and d.store_id = l.store_id`

const forgetText = `delete from directory d using ${rowsFromJson} where d.store_id = l.store_id`

const serializeRow = ({ kind, key, store_id }: IndexRow): string => JSON.stringify([kind, key, store_id])
const getStoreColumn = (table: string): string => (table === 'stores' ? 'id' : 'store_id')
const hiddenName = (column: string): string => `listed ${column}`

interface IndexedWrite {
  table: string
  node: Write
  /** Why the index cannot be maintained for this write; the write is then refused. */
  refusal?: string
}

/** Finds the write in a statement that may change index entries; null if there is none. */
function findWrite(node: RootOperationNode): IndexedWrite | null {
  for (const { expression } of ('with' in node && node.with?.expressions) || []) {
    const write = findWrite(expression as RootOperationNode)
    if (write) {
      const refusal = `${write.table} is listed in the directory: write it by a statement of its own, not within WITH`
      return { ...write, refusal }
    }
  }
  if (node.kind === 'InsertQueryNode') return findIndexedWrite(node.into, node)
  if (node.kind === 'DeleteQueryNode') return findIndexedWrite(node.from.froms[0], node)
  if (node.kind !== 'UpdateQueryNode') return null
  const write = findIndexedWrite(node.table, node)
  if (!write) return null
  const columns = indexDefinitions[write.table as keyof typeof indexDefinitions]!.flatMap(
    (line) => line.columns,
  )
  return node.updates?.some((update) => columns.includes(getColumn(update) ?? '')) ? write : null
}

function findIndexedWrite(target: OperationNode | undefined, node: Write): IndexedWrite | null {
  const named = target && AliasNode.is(target) ? target.node : target
  const table = named && TableNode.is(named) ? named.table.identifier.name : ''
  return Object.hasOwn(indexDefinitions, table) ? { table, node } : null
}

const getColumn = ({ column }: ColumnUpdateNode): string | null =>
  ColumnNode.is(column)
    ? column.column.name
    : ReferenceNode.is(column) && ColumnNode.is(column.column)
      ? column.column.column.name
      : null

const hidden = (columns: readonly string[]): SelectionNode[] =>
  columns.map((name) =>
    SelectionNode.create(
      AliasNode.create(ColumnNode.create(name), IdentifierNode.create(hiddenName(name))) as never,
    ),
  )

const returning = (node: Write, columns: readonly string[]): Write => ({
  ...node,
  returning: ReturningNode.create([...(node.returning?.selections ?? []), ...hidden(columns)]),
})

const pickColumns = (row: Record<string, unknown>, columns: readonly string[]): Keys =>
  Object.fromEntries(columns.map((name) => [name, row[hiddenName(name)] as string | null]))

function omitColumns(row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  const names = new Set(columns.map(hiddenName))
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)))
}

const buildRows = (table: string, lines: readonly IndexDefinition[], rows: readonly Keys[]): IndexRow[] =>
  rows.flatMap((row) =>
    lines.flatMap(({ kind, unique, key }) => {
      const value = key(row)
      return value === null
        ? []
        : [{ kind, key: value, store_id: row[getStoreColumn(table)]!, is_sole: unique !== undefined }]
    }),
  )
