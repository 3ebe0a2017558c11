/** Updates all-time counters that are columns of a resource's own row. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { isAmong, recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import type { Counted, EventSpec } from './specs.ts'

/** The increment for each counter column. */
const counters = {
  impressions: ({ impressions }: Counted) => impressions,
  clicks: ({ clicks }: Counted) => clicks,
  cart_adds: ({ cartAdds }: Counted) => cartAdds,
}
type Counter = keyof typeof counters

type AnyRows = Kysely<Record<string, { id: string } & Record<string, unknown>>>

/**
 * Builds the parts of an `EventSpec` that count events in these columns of a table. `of` are column values that select the
 * section's rows in a table shared by several sections.
 */
export function countedRows(
  table: keyof TenantTables,
  columns: readonly Counter[],
  of: Readonly<Record<string, string>> = {},
): Required<Pick<EventSpec, 'existing' | 'count'>> {
  const selectRows = (ctx: Context, ids: readonly string[]) =>
    (ctx.db as unknown as AnyRows)
      .selectFrom(table)
      .select('id')
      .where(isAmong('id', ids, 'uuid'))
  const types = { id: 'uuid', ...Object.fromEntries(columns.map((column) => [column, 'integer'])) }
  return {
    async existing(ctx, ids) {
      let rows = selectRows(ctx, ids.filter(isId))
      for (const [column, value] of Object.entries(of)) rows = rows.where(column, '=', value)
      return new Set((await rows.execute()).map(({ id }) => id))
    },
    async count(ctx, counted) {
      if (counted.length === 0) return
      const ids = counted.map(({ resourceId }) => resourceId)
      await selectRows(ctx, ids).orderBy('id').forUpdate().execute()
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
