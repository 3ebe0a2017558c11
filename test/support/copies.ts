/** Copies of a row made by an operation, for tests of limits. */
import type { TenantTables } from '#db/tables'
import type { TestApp } from './app.ts'

/** Inserts `count` copies of a row. `json`: its JSON columns; `change`: values that differ per copy. */
export async function copyRow(
  app: TestApp,
  table: keyof TenantTables,
  id: string,
  { count, json, change = () => ({}) }: { count: number; json: string[]; change?: (n: number) => object },
): Promise<void> {
  const { root } = app.database
  const row: Record<string, unknown> = await root
    .selectFrom(table as 'looks')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  for (const column of json) row[column] = JSON.stringify(row[column])
  const copies = Array.from({ length: count }, (_, n) => ({ ...row, id: crypto.randomUUID(), ...change(n) }))
  await root
    .insertInto(table as 'looks')
    .values(copies as never)
    .execute()
}
