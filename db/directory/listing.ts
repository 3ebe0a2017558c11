/**
 * On a cluster, keeps the directory as the tables are that it lists: every write to one of them, whoever's, takes its lines
 * along in the same transaction. Below Kysely, so that no statement built with it can leave them out. On one PostgreSQL
 * the directory is a view, and connections are handed on as they are.
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
import { WrappedConnection, WrappedDialect, WrappedDriver } from '../wrapping.ts'
import { type Listed, listed } from './listed.ts'

type Write = InsertQueryNode | UpdateQueryNode | DeleteQueryNode
type Keys = Readonly<Record<string, string | null>>

export class ListingDialect extends WrappedDialect {
  readonly #distribution: Distribution
  constructor(inner: Dialect, distribution: Distribution) {
    super(inner)
    this.#distribution = distribution
  }
  createDriver(): Driver {
    const compiler = this.inner.createQueryCompiler()
    return new ListingDriver(this.inner.createDriver(), compiler, this.#distribution)
  }
}

class ListingDriver extends WrappedDriver {
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
    return new ListingConnection(connection, {
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
    if (connection instanceof ListingConnection) connection.isInTransaction = true
  }
}

interface Parts {
  driver: Driver
  compiler: QueryCompiler
  distribution: Distribution
}

class ListingConnection extends WrappedConnection {
  isInTransaction = false
  readonly #parts: Parts
  constructor(inner: DatabaseConnection, parts: Parts) {
    super(inner)
    this.#parts = parts
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const write = writeOf(query.query)
    if (!write || !(await this.#isFollowed())) return this.inner.executeQuery<R>(query)
    if (write.refusal) throw new Error(write.refusal)
    if (this.isInTransaction) return this.#follow<R>(write.table, write.node)
    await this.#parts.driver.beginTransaction(this.inner, {})
    try {
      const result = await this.#follow<R>(write.table, write.node)
      await this.#parts.driver.commitTransaction(this.inner)
      return result
    } catch (error) {
      await this.#parts.driver.rollbackTransaction(this.inner)
      throw error
    }
  }

  #isFollowed(): boolean | Promise<boolean> {
    return this.#parts.distribution.isDistributed(async (text) => {
      const { rows } = await this.inner.executeQuery<{ kind: string | null }>(CompiledQuery.raw(text))
      return rows
    })
  }

  /** The write, then its lines: of new rows those that are theirs, of old ones those that are nobody's any more. */
  async #follow<R>(table: string, node: Write): Promise<QueryResult<R>> {
    const lines = listed[table as keyof typeof listed]!
    const columns = [...new Set([storeOf(table), ...lines.flatMap((line) => line.columns)])]
    const before = node.kind === 'UpdateQueryNode' ? await this.#rowsOf(table, node, columns) : []
    const told = await this.inner.executeQuery<Record<string, unknown>>(
      this.#compile(returning(node, columns)),
    )
    const rows = told.rows.map((row) => keysOf(row, columns))
    const [gone, there] = node.kind === 'DeleteQueryNode' ? [rows, []] : [before, rows]
    const added = linesOf(table, lines, there)
    const kept = new Set(added.map(identityOf))
    const removed = linesOf(table, lines, gone).filter((line) => !kept.has(identityOf(line)))
    // A store takes all of its rows with it, which this sees nothing of.
    if (table === 'stores' && node.kind === 'DeleteQueryNode') await this.#run(forgetText, removed)
    else if (removed.length > 0) await this.#run(removeText, removed)
    if (added.length > 0) await this.#run(addText, added)
    if (removed.length > 0 && table !== 'stores') await this.#relist(table, lines, removed)
    return { ...told, rows: node.returning ? told.rows.map((row) => without(row, columns) as R) : [] }
  }

  /** What an update is about to change, locked: its old values are told by nothing else. */
  async #rowsOf(table: string, node: UpdateQueryNode, columns: readonly string[]): Promise<Keys[]> {
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
    return rows.map((row) => keysOf(row, columns))
  }

  /** Another row of the same store may have the value still. */
  async #relist(table: string, lines: readonly Listed[], removed: readonly Line[]): Promise<void> {
    if (lines.every((line) => line.unique)) return
    const columns = [...new Set([storeOf(table), ...lines.flatMap((line) => line.columns)])]
    for (const store of new Set(removed.map((line) => line.store_id))) {
      const names = columns.map((name) => `"${name}"`).join(', ')
      const text = `select ${names} from "${table}" where "${storeOf(table)}" = $1`
      const { rows } = await this.inner.executeQuery<Record<string, string | null>>(
        CompiledQuery.raw(text, [store]),
      )
      const gone = new Set(removed.map(identityOf))
      const still = linesOf(table, lines, rows).filter((line) => gone.has(identityOf(line)))
      if (still.length > 0) await this.#run(addText, still)
    }
  }

  async #run(text: string, lines: readonly Line[]): Promise<void> {
    await this.inner.executeQuery(CompiledQuery.raw(text, [JSON.stringify(lines)]))
  }

  #compile(node: RootOperationNode): CompiledQuery {
    return this.#parts.compiler.compileQuery(node, createQueryId())
  }
}

interface Line {
  kind: string
  key: string
  store_id: string
  is_sole: boolean
}

const given = `json_to_recordset($1::json) as l(kind text, key text, store_id uuid, is_sole boolean)`
const addText = `insert into directory (kind, key, store_id, is_sole)
  select distinct kind, key, store_id, is_sole from ${given} on conflict (kind, key, store_id) do nothing`
const removeText = `delete from directory d using ${given}
  where d.kind = l.kind and d.key = l.key and d.store_id = l.store_id`

const forgetText = `delete from directory d using ${given} where d.store_id = l.store_id`

const identityOf = ({ kind, key, store_id }: Line): string => JSON.stringify([kind, key, store_id])
const storeOf = (table: string): string => (table === 'stores' ? 'id' : 'store_id')
const hiddenName = (column: string): string => `listed ${column}`

interface Followed {
  table: string
  node: Write
  /** Why nobody could follow it. */
  refusal?: string
}

/** A write that may change what is listed; of others nobody takes note. */
function writeOf(node: RootOperationNode): Followed | null {
  for (const { expression } of ('with' in node && node.with?.expressions) || []) {
    const write = writeOf(expression as RootOperationNode)
    if (write) {
      const refusal = `${write.table} is listed in the directory: write it by a statement of its own, not within WITH`
      return { ...write, refusal }
    }
  }
  if (node.kind === 'InsertQueryNode') return ifListed(node.into, node)
  if (node.kind === 'DeleteQueryNode') return ifListed(node.from.froms[0], node)
  if (node.kind !== 'UpdateQueryNode') return null
  const write = ifListed(node.table, node)
  if (!write) return null
  const columns = listed[write.table as keyof typeof listed]!.flatMap((line) => line.columns)
  return node.updates?.some((update) => columns.includes(columnOf(update) ?? '')) ? write : null
}

function ifListed(target: OperationNode | undefined, node: Write): Followed | null {
  const named = target && AliasNode.is(target) ? target.node : target
  const table = named && TableNode.is(named) ? named.table.identifier.name : ''
  return Object.hasOwn(listed, table) ? { table, node } : null
}

const columnOf = ({ column }: ColumnUpdateNode): string | null =>
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

const keysOf = (row: Record<string, unknown>, columns: readonly string[]): Keys =>
  Object.fromEntries(columns.map((name) => [name, row[hiddenName(name)] as string | null]))

function without(row: Record<string, unknown>, columns: readonly string[]): Record<string, unknown> {
  const names = new Set(columns.map(hiddenName))
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)))
}

const linesOf = (table: string, lines: readonly Listed[], rows: readonly Keys[]): Line[] =>
  rows.flatMap((row) =>
    lines.flatMap(({ kind, unique, key }) => {
      const value = key(row)
      return value === null
        ? []
        : [{ kind, key: value, store_id: row[storeOf(table)]!, is_sole: unique !== undefined }]
    }),
  )
