/** Snapshots of a store's rows in all tables: equal snapshots mean that nothing was written in between. */
import type { TestApp } from '#test/support/app'

/** Tables that reads write to: last use of keys, and the catalog cache. */
const writtenByReads = new Set(['api_keys', 'product_snapshots', 'product_snapshot_variants'])

/** One statement would exceed the size that PGlite's adapter keeps prepared, and cost 24 ms of planning each time. */
const tablesAtOnce = 60

const queries = new WeakMap<TestApp, Promise<string[]>>()

function getQueries(app: TestApp): Promise<string[]> {
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
          .filter(({ name }) => !writtenByReads.has(name))
          // A rewritten row has a later transaction id.
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

/** Tables with rows of the store: count and last transaction id. */
export async function snapshotRows(app: TestApp, storeId: string): Promise<unknown[]> {
  const rows: { rows: number }[] = []
  for (const query of await getQueries(app))
    rows.push(...(await app.database.query<{ rows: number }>(query, [storeId])))
  return rows.filter((row) => row.rows > 0)
}
