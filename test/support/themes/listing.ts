/** The lists of a theme's shop, as Liquid's objects: a collection and a search, filtered, sorted and in pages. */

// biome-ignore lint/suspicious/noExplicitAny: Liquid's values have any shape
type Any = any

const pageSize = 2
const filterName = 'filter.v.availability'
const orders: Record<string, (one: Any, other: Any) => number> = {
  'price-ascending': (one, other) => one.price - other.price,
  'title-descending': (one, other) => other.title.localeCompare(one.title),
}

/** The scope of a list's page: `collection`, `search`, `predictive_search` and `paginate`, as the address asks. */
export function listProducts(url: URL, all: readonly Any[]): Any {
  const { searchParams: query } = url
  const without = (...names: string[]): URLSearchParams => {
    const left = new URLSearchParams(query)
    for (const name of [...names, 'page', 'section_id', 'sections']) left.delete(name)
    return left
  }
  const chosen = query.getAll(filterName)
  const values = [
    { label: 'In stock', value: '1', isIn: ({ available }: Any) => available },
    { label: 'Out of stock', value: '0', isIn: ({ available }: Any) => !available },
  ].map(({ isIn, ...each }) => ({
    ...each,
    param_name: filterName,
    active: chosen.includes(each.value),
    count: all.filter(isIn).length,
    url_to_remove: `${url.pathname}?${without(filterName)}`,
    url_to_add: `${url.pathname}?${without()}&${filterName}=${each.value}`,
  }))
  const isWanted = ({ available }: Any): boolean =>
    chosen.length === 0 || chosen.includes(available ? '1' : '0')
  const terms = query.get('q') ?? ''
  const isNamed = ({ title }: Any): boolean => title.toLowerCase().includes(terms.toLowerCase())
  const sortBy = query.get('sort_by') ?? 'manual'
  const found = all.filter(isNamed).filter(isWanted)
  if (orders[sortBy]) found.sort(orders[sortBy])

  const pages = Math.max(1, Math.ceil(found.length / pageSize))
  const page = Number(query.get('page') ?? 1)
  const link = (n: number): Any => ({
    title: String(n),
    url: `${url.pathname}?${without()}&page=${n}`,
    is_link: true,
  })
  const products = found.slice((page - 1) * pageSize, page * pageSize)
  const list = {
    filters: [
      {
        ...{
          label: 'Availability',
          type: 'list',
          param_name: filterName,
          operator: 'OR',
          presentation: 'text',
        },
        ...{ values, active_values: values.filter((each) => each.active) },
        url_to_remove: `${url.pathname}?${without(filterName)}`,
      },
    ],
    sort_options: [
      { name: 'Featured', value: 'manual' },
      { name: 'Price, low to high', value: 'price-ascending' },
      { name: 'Alphabetically, Z-A', value: 'title-descending' },
    ],
    ...{ sort_by: sortBy, default_sort_by: 'manual', products_count: found.length },
    all_products_count: all.length,
  }
  return {
    products: all,
    collection: {
      ...{ id: 77, title: 'Products', handle: 'all', url: '/collections/all', description: '' },
      ...{ products, metafields: {}, ...list },
    },
    search: {
      ...list,
      ...{
        terms,
        performed: terms !== '',
        results: products,
        results_count: found.length,
        types: ['product'],
      },
    },
    predictive_search: {
      ...{ terms, performed: terms !== '', types: ['product'] },
      resources: { products: found, queries: [], collections: [], pages: [], articles: [] },
    },
    paginate: {
      ...{ current_page: page, pages, page_size: pageSize, items: found.length },
      parts: pages > 1 ? Array.from({ length: pages }, (_, n) => link(n + 1)) : [],
      previous: page > 1 ? link(page - 1) : null,
      next: page < pages ? link(page + 1) : null,
    },
  }
}
