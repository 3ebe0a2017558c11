/** All-time counters of what the storefront shows, in the rows of the resources themselves. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { isAmong, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import type { Counted, EventSpec } from './specs.ts'

/** By the column. */
const counters = {
  impressions: ({ impressions }: Counted) => impressions,
  clicks: ({ clicks }: Counted) => clicks,
  cart_adds: ({ cartAdds }: Counted) => cartAdds,
}
type Counter = keyof typeof counters

type AnyRows = Kysely<Record<string, { id: string } & Record<string, unknown>>>

/** Counts the events of one section's rows in these columns of theirs; `of`: what tells them from others of the table. */
export function countedRows(
  table: keyof TenantTables,
  columns: readonly Counter[],
  of: Readonly<Record<string, string>> = {},
): Required<Pick<EventSpec, 'existing' | 'count'>> {
  const rowsOf = (ctx: Context, ids: readonly string[]) =>
    (ctx.db as unknown as AnyRows)
      .selectFrom(table)
      .select('id')
      .where(isAmong('id', ids, 'uuid'))
  const types = { id: 'uuid', ...Object.fromEntries(columns.map((column) => [column, 'integer'])) }
  return {
    async existing(ctx, ids) {
      let rows = rowsOf(ctx, ids.filter(isId))
      for (const [column, value] of Object.entries(of)) rows = rows.where(column, '=', value)
      return new Set((await rows.execute()).map(({ id }) => id))
    },
    async count(ctx, counted) {
      if (counted.length === 0) return
      const ids = counted.map(({ resourceId }) => resourceId)
      await rowsOf(ctx, ids).orderBy('id').forUpdate().execute()
      const grown = counted.map((each) => ({
        id: each.resourceId,
        ...Object.fromEntries(columns.map((column) => [column, counters[column](each)])),
      }))
      await (ctx.db as unknown as AnyRows)
        .updateTable(table)
        .from(recordset<object>(types, grown))
        .set(
          Object.fromEntries(
            columns.map((column) => [
              column,
              sql`${sql.ref(`${table}.${column}`)} + ${sql.ref(`r.${column}`)}`,
            ]),
          ),
        )
        .whereRef(`${table}.id`, '=', sql`r.id`)
        .execute()
    },
  }
}
