/** What a store has in all tables: two looks that are equal have nothing written between them. */
import type { TestApp } from '#test/support/app'

/** What reading writes: when a key was used, and the mirror of the platform. */
const byReading = new Set(['api_keys', 'product_snapshots', 'product_snapshot_variants'])

const queries = new WeakMap<TestApp, Promise<string>>()

function queryOf(app: TestApp): Promise<string> {
  let query = queries.get(app)
  if (!query) {
    query = app.database
      .query<{ name: string }>(
        `select c.table_name as name from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
         where table_schema = 'public' and t.table_type = 'BASE TABLE' and column_name = 'store_id' order by 1`,
        [],
      )
      .then((tables) =>
        tables
          .filter(({ name }) => !byReading.has(name))
          // A row that is written anew has a later transaction.
          .map(
            ({ name }) =>
              `select '${name}' as name, count(*)::int as rows, max(xmin::text::bigint)::text as written
               from ${name} where store_id = $1`,
          )
          .concat(
            `select 'jobs', count(*)::int, null from pgboss.job where data::text like '%' || $1::text || '%'`,
          )
          .join(' union all '),
      )
    queries.set(app, query)
  }
  return query
}

/** Tables that have rows of the store, with how many, and when the last was written. */
export async function rowsOf(app: TestApp, storeId: string): Promise<unknown[]> {
  const rows = await app.database.query<{ rows: number }>(await queryOf(app), [storeId])
  return rows.filter((row) => row.rows > 0)
}
