/** Reads and changes a store's rows directly, without the API. */
import type { Row, Tables } from '#db/tables'
import type { Shop } from './store.ts'

type Table = keyof Tables & string
type Values = Record<string, unknown>
type Of = Pick<Shop, 'id' | 'app'>

const of = ({ id }: Of, where: Values): never => ({ store_id: id, ...where }) as never

export async function readRows<T extends Table, C extends keyof Row<T> & string>(
  shop: Of,
  table: T,
  columns: readonly C[],
  where: Values = {},
): Promise<Pick<Row<T>, C>[]> {
  const rows = await shop.app.database.root
    .selectFrom(table as 'files')
    .select(columns as never)
    .where((eb) => eb.and(of(shop, where)))
    .execute()
  return rows as never
}

export async function setRows(shop: Of, table: Table, values: Values, where: Values = {}): Promise<void> {
  await shop.app.database.root
    .updateTable(table as 'files')
    .set(values as never)
    .where((eb) => eb.and(of(shop, where)))
    .execute()
}

export async function deleteRows(shop: Of, table: Table, where: Values = {}): Promise<void> {
  await shop.app.database.root
    .deleteFrom(table as 'files')
    .where((eb) => eb.and(of(shop, where)))
    .execute()
}
