import type { Shop } from '#test/support/store'

/** Spellings of one Brazilian phone: with and without the ninth digit, as people type, copy and dial it. */
export const spellings = [
  '+5511987654321',
  '+551187654321',
  '(11) 98765-4321',
  '11 8765 4321',
  '0xx11 98765-4321',
  '+55 (0)11 98765-4321',
  '0055 11 98765-4321',
  '\u202a+55\u00a011\u00a098765\u20114321\u202c',
  '\uff0b\uff15\uff15 11 98765\u22124321',
  'tel:+55-11-98765-4321',
]
export const stored = ['+5511987654321', '+551187654321'] as const
/** Parts of the number to search for. */
export const parts = ['98765-4321', '8765-4321', '11 98765', '(11) 8765', '5511 8765-4', '4321']
export const addresses = [
  'ana@example.com',
  ' ANA@Example.com ',
  'ana\u200b@example.com',
  '\ufeffana@example.com',
  'ana\uff20example.com',
  '\u00a0ana@ex\u00adample.com\u00a0',
]

/** A list filtered by a search. */
export const read = (shop: Shop, path: string, search: string, more: Record<string, string> = {}) =>
  shop.request('GET', path, { query: { ...more, search } })
