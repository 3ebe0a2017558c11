/** Helpers for tests of imports into contact lists. */

import importCsvIntoList from '#operations/campaigns/imports/api/import-csv-into-list'
import createList from '#operations/campaigns/lists/api/create-list'
import getList from '#operations/campaigns/lists/api/get-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import type { Answer, Shop } from './store.ts'

export const columns = ['Telefone', 'Nome', 'E-mail', 'Cidade']
export const makePhone = (n: number): string => `+55119${String(20_000_000 + n)}`
/** Rows for a number of people, in the order of `columns`. */
export const makeRows = (count: number, city: (n: number) => string = () => 'Santos'): string[][] =>
  Array.from({ length: count }, (_none, n) => [makePhone(n), `Pessoa ${n}`, `p${n}@example.com`, city(n)])

export async function emptyList(shop: Shop): Promise<string> {
  return (await shop.call(createList, { body: { name: 'Feira' } })).body.id
}
/** Imports rows of `columns` into a list. */
export const importRows = (shop: Shop, id: string, body: object): Promise<Answer> =>
  shop.call(importCsvIntoList, { params: { id }, body: { columns, ...body } })
export const read = async (shop: Shop, id: string): Promise<Answer['body']> =>
  (await shop.call(getList, { params: { id } })).body
export const readContacts = async (shop: Shop, id: string): Promise<Answer['body']> =>
  (await shop.call(listContacts, { params: { id }, query: { limit: 100 } })).body.data
export const readNotices = (shop: Shop) =>
  shop.app.database.root
    .selectFrom('notifications')
    .selectAll()
    .where('store_id', '=', shop.id)
    .orderBy('id')
    .execute()
export const readStaged = (shop: Shop) =>
  shop.app.database.root
    .selectFrom('list_import_rows')
    .select('line')
    .where('store_id', '=', shop.id)
    .execute()
