/** Lists of the stand-in: their filters, pages and links. */
import { foldText } from '#runtime/values/fold'
import type { Shop } from './shop.ts'

export interface ApiAnswer {
  status: number
  headers?: Record<string, string>
  body: unknown
}

export const fail = (status: number, message: string, description: string): ApiAnswer => ({
  status,
  body: { code: status, message, description },
})
export const invalid = (fields: Record<string, string[]>): ApiAnswer => ({ status: 422, body: fields })

type Query = URLSearchParams
type Row = Record<string, unknown>
type Filter = (row: Row, value: string) => boolean

interface List {
  rows(shop: Shop): readonly object[]
  filters: Record<string, Filter>
  sorts?: Record<string, (a: Row, b: Row) => number>
  /** Parameters that the documentation does not name: without effect. */
  ignored?: readonly string[]
  /** Longer results are refused. */
  atMost?: number
}

const text = (row: Row, name: string): string => String(row[name] ?? '')
const inPortuguese = (row: Row): string => (row.name as Record<string, string>).pt!
const includes = (texts: readonly string[], part: string): boolean =>
  texts.some((each) => foldText(each).includes(foldText(part)))
const changedSince: Record<string, Filter> = {
  updated_at_min: (row, at) => Date.parse(text(row, 'updated_at')) >= Date.parse(at),
  updated_at_max: (row, at) => Date.parse(text(row, 'updated_at')) <= Date.parse(at),
}
const variantsOf = (row: Row) =>
  row.variants as { sku: string | null; price: string; promotional_price: string | null }[]
const priceOf = (row: Row): number =>
  Math.min(...variantsOf(row).map((each) => Number(each.promotional_price ?? each.price)))
const newestFirst = (rows: readonly object[]): object[] => [...rows].reverse()

export const lists: Record<string, List> = {
  products: {
    rows: ({ products }) => products,
    filters: {
      ids: (row, ids) => ids.split(',').includes(text(row, 'id')),
      q: (row, part) =>
        includes(
          [inPortuguese(row), text(row, 'tags'), ...variantsOf(row).map(({ sku }) => sku ?? '')],
          part,
        ),
      category_id: (row, id) => (row.categories as { id: number }[]).some((each) => each.id === Number(id)),
      published: (row, value) => String(row.published) === value,
    },
    sorts: {
      'alpha-ascending': (a, b) => (foldText(inPortuguese(a)) < foldText(inPortuguese(b)) ? -1 : 1),
      'price-ascending': (a, b) => priceOf(a) - priceOf(b),
      'price-descending': (a, b) => priceOf(b) - priceOf(a),
    },
  },
  categories: { rows: ({ categories }) => newestFirst(categories), filters: {} },
  customers: { rows: ({ customers }) => customers, filters: {} },
  orders: {
    // In no documented order: the newest first here, so that the adapter cannot depend on the other one.
    rows: ({ orders }) => newestFirst(orders),
    filters: {
      ...changedSince,
      customer_ids: (row, ids) => ids.split(',').includes(String((row.customer as { id: number }).id)),
      q: (row, part) => text(row, 'number') === part || includes([text(row, 'contact_email')], part),
      aggregates: (_row, value) => value === 'fulfillment_orders' || value === 'custom_fields',
    },
    atMost: 10_000,
  },
  checkouts: {
    rows: ({ checkouts, clock }) =>
      newestFirst(checkouts.filter(({ listedAt = '' }) => listedAt <= clock.now().toISOString())),
    filters: { updated_at_max: changedSince.updated_at_max! },
    ignored: ['updated_at_min'],
  },
  coupons: {
    rows: ({ coupons }) => coupons,
    filters: { q: (row, part) => includes([text(row, 'code')], part) },
  },
  webhooks: {
    rows: ({ webhooks }) => webhooks,
    filters: { url: (row, url) => row.url === url, event: (row, event) => row.event === event },
  },
}

const paging = ['page', 'per_page', 'fields', 'sort_by']

export function answerList(
  shop: Shop,
  name: string,
  query: Query,
  { base, hasLinks }: { base: string; hasLinks: boolean },
): ApiAnswer {
  const { rows, filters, sorts = {}, ignored = [], atMost = Number.POSITIVE_INFINITY } = lists[name]!
  const unknown = [...query.keys()].filter(
    (key) => !paging.includes(key) && !Object.hasOwn(filters, key) && !ignored.includes(key),
  )
  if (unknown.length > 0) return invalid({ [unknown[0]!]: ['is no parameter of this list'] })
  const perPage = Number(query.get('per_page') ?? 30)
  const page = Number(query.get('page') ?? 1)
  if (!(perPage >= 1 && perPage <= 200)) return invalid({ per_page: ['must be between 1 and 200'] })
  if ((query.get('ids') ?? '').split(',').length > 30) return invalid({ ids: ['are more than 30'] })
  const sort = query.get('sort_by')
  if (sort !== null && !Object.hasOwn(sorts, sort)) return invalid({ sort_by: ['is invalid'] })
  const found = (rows(shop) as Row[]).filter((row) =>
    [...query].every(([key, value]) => !Object.hasOwn(filters, key) || filters[key]!(row, value)),
  )
  if (found.length > atMost) return fail(422, 'Unprocessable Entity', 'The result has more than 10000 items')
  if (sort) found.sort(sorts[sort])
  const lastPage = Math.ceil(found.length / perPage)
  if (page > lastPage) return fail(404, 'Not Found', `Last page is ${lastPage}`)
  const shown = found.slice((page - 1) * perPage, page * perPage)
  const at = (number: number): string => {
    const address = new URLSearchParams(query)
    address.set('page', String(number))
    return `${base}?${address}`
  }
  const links = [
    ...(page < lastPage ? [`<${at(page + 1)}>; rel="next"`, `<${at(lastPage)}>; rel="last"`] : []),
    ...(page > 1 ? [`<${at(1)}>; rel="first"`, `<${at(page - 1)}>; rel="prev"`] : []),
  ]
  return {
    status: 200,
    headers: {
      'x-total-count': String(found.length),
      'x-main-language': 'pt',
      ...(hasLinks && links.length > 0 ? { link: links.join(', ') } : {}),
    },
    body: shown.map((row) => pickFields(row, query.get('fields'))),
  }
}

/** Never with what the stand-in keeps for itself. */
export function pickFields(row: Row, fields: string | null): Row {
  const { history: _history, listedAt: _listedAt, ...shown } = row
  if (fields === null) return shown
  return Object.fromEntries(fields.split(',').map((name) => [name, shown[name]]))
}
