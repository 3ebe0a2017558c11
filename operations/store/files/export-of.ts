/** An export as data: each column said once, its rows read by key, its job and its wiring made from it (rule 15). */
import { type AliasableExpression, type SelectQueryBuilder, type StringReference, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { type Job, job } from '#runtime/job'
import { type Cell, type ExportHandle, type ExportSource, run } from './exports.ts'
import { isAfter, type Order } from './keyset.ts'

/** Rows read by a statement. */
const rowsAtOnce = 500

// biome-ignore lint/suspicious/noExplicitAny: what it is of is told by the type that extends it
type AnySelect = SelectQueryBuilder<any, any, any>
type ColumnOf<Rows> =
  Rows extends SelectQueryBuilder<infer DB, infer TB, infer _Row>
    ? StringReference<DB, TB> | Expressed | ((db: Context['db']) => Expressed)
    : never
type Expressed = AliasableExpression<unknown>
type Row = Readonly<Record<string, Cell>>

interface Description<Query, Rows extends AnySelect> {
  /** Subject of the email and title of the notice, such as `Opt-outs`. */
  title: string
  /** FROM and WHERE, those of the list (`matching`), with what the columns need. Refuses what cannot be asked. */
  rows(ctx: Context, query: Query): Rows
  /** Of the list; what `isAfter` asks of it holds. */
  order: Order | ((query: Query) => Order)
  /** By what the header calls them. */
  columns: Readonly<Record<string, ColumnOf<Rows>>>
  /** Columns that each store has of its own, after the others: the keys of an object in each row. */
  more?: { in: ColumnOf<Rows>; names(ctx: Context, query: Query): Promise<string[]> }
}

/** The whole of an export's job file. */
export const exportOf = <Query, Rows extends AnySelect>(
  handle: ExportHandle,
  { description, ...data }: Description<Query, Rows> & { description: string },
): Job => exportJob(handle, { description, ...exportSource(data) })

/** The same where rows, or columns, are not a table's. `description`: what the job does. */
export const exportJob = <Query>(
  handle: ExportHandle,
  { description, ...source }: ExportSource<Query> & { description: string },
): Job => ({
  ...job(handle, {
    description,
    retry: { limit: 4, backoffSeconds: 30 },
    timeoutSeconds: 1800,
    isBulk: true,
    safeTwice: "File and email are keyed by the job's id: the file is written anew, the email leaves once.",
    run: (ctx, { exportId }, attempt) => run(ctx, handle.name, exportId, attempt),
  }),
  wires: { exports: { [handle.name]: source as ExportSource } },
})

/** Rows and columns, for who chooses among some. */
export function exportSource<Query, Rows extends AnySelect>({
  title,
  rows,
  order,
  columns,
  more,
}: Description<Query, Rows>): ExportSource<Query> {
  const own = Object.entries(columns)
  return {
    title,
    check: (ctx, query) => void rows(ctx, query),
    columns: async (ctx, query) => [...own.map(([name]) => name), ...((await more?.names(ctx, query)) ?? [])],
    async *rows(ctx, query, header, atOnce = rowsAtOnce) {
      const keys = typeof order === 'function' ? order(query) : order
      const others = header.slice(own.length)
      const cells: [string, ColumnOf<AnySelect>][] = own.map(([, cell], at) => [`c${at}`, cell])
      if (more) cells.push(['more', more.in])
      const selected = (rows(ctx, query) as AnySelect).select([
        ...cells.map(([alias, cell]) => expressed(ctx, cell).as(alias)),
        // As text: a Date has no microseconds.
        ...keys.map(([column], at) => sql`${sql.ref(column)}::text`.as(`k${at}`)),
      ])
      const whole = keys.reduce((sorted, key) => sorted.orderBy(...key), selected).limit(atOnce)
      for (let after: string[] | null = null; ; ) {
        const page = after ? whole.where(isAfter(keys, after)) : whole
        const found: Record<string, unknown>[] = await page.execute()
        yield found.map(({ more: values, ...row }) => [
          ...own.map((_column, at) => row[`c${at}`] as Cell),
          ...others.map((name) => (Object.hasOwn(values as object, name) ? (values as Row)[name]! : null)),
        ])
        const last = found.at(-1)
        if (!last || found.length < atOnce) return
        after = keys.map((_key, at) => last[`k${at}`] as string)
      }
    },
  }
}

const expressed = ({ db }: Context, cell: ColumnOf<AnySelect>): Expressed =>
  typeof cell === 'string' ? sql.ref(cell) : typeof cell === 'function' ? cell(db) : cell
