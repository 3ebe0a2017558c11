/** Builds the job and the extension of an export from columns and a query (rule 15). Rows are read by keyset pagination. */
import { type AliasableExpression, type SelectQueryBuilder, type StringReference, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { type Job, job } from '#runtime/job'
import { foldHeader } from '../imports/headers.ts'
import { type Cell, type ExportHandle, type ExportSource, run } from './exports.ts'
import { isAfter, type Order } from './keyset.ts'

/** Rows per statement. */
const exportBatchSize = 500

// biome-ignore lint/suspicious/noExplicitAny: the extending type has the concrete row type
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
  /** The FROM and WHERE of the exported list, with joins for the columns. Refuses an invalid query. */
  rows(ctx: Context, query: Query): Rows
  /** The order of the list. It must meet the requirements of `Order`. */
  order: Order | ((query: Query) => Order)
  /** The columns, by their names in the header. */
  columns: Readonly<Record<string, ColumnOf<Rows>>>
  /**
   * Further columns that differ between stores: `names` are keys of the JSON object `in`. A key that equals one of the
   * other columns is headed `<as>.<key>`, because the names in a header must differ.
   */
  more?: { in: ColumnOf<Rows>; as: string; names(ctx: Context, query: Query): Promise<string[]> }
  /** Columns after those of `more`, so that the others keep their places. */
  last?: Readonly<Record<string, ColumnOf<Rows>>>
}

/** Defines the job file of an export. */
export const defineExport = <Query, Rows extends AnySelect>(
  handle: ExportHandle,
  { description, ...data }: Description<Query, Rows> & { description: string },
): Job => exportJob(handle, { description, ...exportSource(data) })

/** Like `defineExport`, but for rows or columns that do not come from one query. `description`: what the job does. */
export const exportJob = <Query>(
  handle: ExportHandle,
  { description, ...source }: ExportSource<Query> & { description: string },
): Job => ({
  ...job(handle, {
    description,
    retry: { limit: 4, backoffSeconds: 30 },
    timeoutSeconds: 1800,
    isBulk: true,
    safeTwice: "File and email are keyed by the job's id: the file is overwritten, the email is sent once.",
    run: (ctx, { exportId }, attempt) => run(ctx, handle.name, exportId, attempt),
  }),
  extensions: { exports: { [handle.name]: source as ExportSource } },
})

/** Builds a source from a query, for exports that choose between several sources. */
export function exportSource<Query, Rows extends AnySelect>({
  title,
  rows,
  order,
  columns,
  more,
  last = {},
}: Description<Query, Rows>): ExportSource<Query> {
  const first = Object.keys(columns).length
  const own = Object.entries({ ...columns, ...last })
  const taken = new Set(own.map(([name]) => foldHeader(name)))
  const prefix = `${more?.as}.`
  const toHeading = (key: string): string => (taken.has(foldHeader(key)) ? prefix + key : key)
  return {
    title,
    check: (ctx, query) => void rows(ctx, query),
    columns: async (ctx, query) => [
      ...Object.keys(columns),
      ...((await more?.names(ctx, query)) ?? []).map(toHeading),
      ...Object.keys(last),
    ],
    async *rows(ctx, query, header, atOnce = exportBatchSize) {
      const keys = typeof order === 'function' ? order(query) : order
      const others = header
        .slice(first, header.length - (own.length - first))
        .map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name))
      const cells: [string, ColumnOf<AnySelect>][] = own.map(([, cell], at) => [`c${at}`, cell])
      if (more) cells.push(['more', more.in])
      const selected = (rows(ctx, query) as AnySelect).select([
        ...cells.map(([alias, cell]) => toExpression(ctx, cell).as(alias)),
        // Read as text, because a `Date` would lose the microseconds.
        ...keys.map(([column], at) => sql`${sql.ref(column)}::text`.as(`k${at}`)),
      ])
      const whole = keys.reduce((sorted, key) => sorted.orderBy(...key), selected).limit(atOnce)
      for (let after: string[] | null = null; ; ) {
        const page = after ? whole.where(isAfter(keys, after)) : whole
        const found: Record<string, unknown>[] = await page.execute()
        yield found.map(({ more: values, ...row }) => {
          const each = own.map((_column, at) => row[`c${at}`] as Cell)
          return [
            ...each.slice(0, first),
            ...others.map((name) => (Object.hasOwn(values as object, name) ? (values as Row)[name]! : null)),
            ...each.slice(first),
          ]
        })
        const end = found.at(-1)
        if (!end || found.length < atOnce) return
        after = keys.map((_key, at) => end[`k${at}`] as string)
      }
    },
  }
}

const toExpression = ({ db }: Context, cell: ColumnOf<AnySelect>): Expressed =>
  typeof cell === 'string' ? sql.ref(cell) : typeof cell === 'function' ? cell(db) : cell
