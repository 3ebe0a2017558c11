/** What a store has in all tables: two looks that are equal have nothing written between them. */
import type { TestApp } from '#test/support/app'

/** What reading writes: when a key was used, and the mirror of the platform. */
const byReading = new Set(['api_keys', 'product_snapshots', 'product_snapshot_variants'])

/** In one text they would be longer than PGlite's adapter keeps prepared: planned anew at each look, for 24 ms. */
const tablesAtOnce = 60

const queries = new WeakMap<TestApp, Promise<string[]>>()

function queriesOf(app: TestApp): Promise<string[]> {
  let found = queries.get(app)
  if (!found) {
    found = app.database
      .query<{ name: string }>(
        `select c.table_name as name from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
         where table_schema = 'public' and t.table_type = 'BASE TABLE' and column_name = 'store_id' order by 1`,
        [],
      )
      .then((tables) => {
        const looks = tables
          .filter(({ name }) => !byReading.has(name))
          // A row that is written anew has a later transaction.
          .map(
            ({ name }) =>
              `select '${name}' as name, count(*)::int as rows, max(xmin::text::bigint)::text as written
               from ${name} where store_id = $1`,
          )
        return [
          ...Array.from({ length: Math.ceil(looks.length / tablesAtOnce) }, (_, n) =>
            looks.slice(n * tablesAtOnce, (n + 1) * tablesAtOnce).join(' union all '),
          ),
          `select 'jobs' as name, count(*)::int as rows, null as written
           from pgboss.job where data::text like '%' || $1::text || '%'`,
        ]
      })
    queries.set(app, found)
  }
  return found
}

/** Tables that have rows of the store, with how many, and when the last was written. */
export async function rowsOf(app: TestApp, storeId: string): Promise<unknown[]> {
  const rows: { rows: number }[] = []
  for (const query of await queriesOf(app))
    rows.push(...(await app.database.query<{ rows: number }>(query, [storeId])))
  return rows.filter((row) => row.rows > 0)
}
