/** The REST resources that the adapter uses, as their public reference documents them. */
import type { Shop } from './shop.ts'

export interface RestAnswer {
  status: number
  body: unknown
  link?: string
}

const ok = (body: unknown): RestAnswer => ({ status: 200, body })
const refused = (status: number, errors: unknown): RestAnswer => ({ status, body: { errors } })

export interface RestCall {
  method: string
  /** Relative to the version. */
  path: string
  query: URLSearchParams
  body: Record<string, Record<string, unknown>> | null
  /** The whole request's address, for links to further pages. */
  base: string
}

interface PageCall extends RestCall {
  from: number
}

export function answerRest(shop: Shop, call: RestCall): RestAnswer {
  const { method, path, query } = call
  if (Number(query.get('limit') ?? '50') > 250) return refused(400, { limit: 'must be at most 250' })
  if (method === 'GET') {
    const read = reads[path]
    if (!read) return refused(404, 'Not Found')
    const page = parsePage(query)
    return page ? read(shop, { ...call, ...page }) : refused(400, { page_info: 'Invalid value.' })
  }
  // Since 1 October 2026, in every version.
  if (['POST', 'PUT'].includes(method) && path.startsWith('script_tags')) {
    return refused(422, { base: ['Script tags are deprecated and can no longer be created or updated'] })
  }
  if (method === 'POST' && path === 'webhooks.json') return createWebhook(shop, call.body!.webhook!)
  const script = /^script_tags\/(\d+)\.json$/.exec(path)?.[1]
  if (method === 'DELETE' && script) {
    const at = shop.scripts.findIndex(({ id }) => id === Number(script))
    if (at === -1) return refused(404, 'Not Found')
    shop.scripts.splice(at, 1)
    return ok({})
  }
  return refused(404, 'Not Found')
}

const reads: Record<string, (shop: Shop, call: PageCall) => RestAnswer> = {
  'shop.json': (shop) =>
    ok({
      shop: {
        id: shop.id,
        name: 'Loja',
        domain: 'loja.example.com',
        country_code: 'BR',
        currency: 'BRL',
        iana_timezone: 'America/Sao_Paulo',
      },
    }),
  'products.json': (shop, call) =>
    toPage(
      call,
      'products',
      byIds(call, shop.products).map(({ collectionIds: _own, ...product }) => ({
        ...product,
        variants: product.variants.slice(0, 100),
      })),
    ),
  'customers.json': (shop, call) => {
    const since = Number(call.query.get('since_id') ?? '0')
    const walked = shop.customers.filter(({ id }) => id > since).sort((a, b) => a.id - b.id)
    return toPage(
      call,
      'customers',
      walked.map(({ birthDate: _own, ...customer }) => customer),
    )
  },
  'orders.json': (shop, call) => {
    const found = byIds(call, shop.orders).filter(
      (order) => call.query.get('status') === 'any' || (!order.closed_at && !order.cancelled_at),
    )
    return toPage(
      call,
      'orders',
      found.map(({ transactions: _t, checkoutToken: _c, refunded: _r, ...order }) => order),
    )
  },
  'checkouts.json': (shop, call) => {
    const status = call.query.get('status') ?? 'open'
    const since = Date.parse(call.query.get('updated_at_min') ?? '1970-01-01')
    const found = shop.checkouts.filter(
      ({ closed, updated_at }) => closed === (status === 'closed') && Date.parse(updated_at) >= since,
    )
    return toPage(
      call,
      'checkouts',
      found.map(({ closed: _own, ...checkout }) => checkout),
    )
  },
  'script_tags.json': (shop, call) => {
    const src = call.query.get('src')
    return toPage(
      call,
      'script_tags',
      shop.scripts.filter((script) => src === null || script.src === src),
    )
  },
  'webhooks.json': (shop, call) => {
    const wanted = (name: 'topic' | 'address', value: string) =>
      !call.query.has(name) || call.query.get(name) === value
    return toPage(
      call,
      'webhooks',
      shop.webhooks.filter(({ topic, address }) => wanted('topic', topic) && wanted('address', address)),
    )
  },
}

function byIds<T extends { id: number }>({ query }: RestCall, all: T[]): T[] {
  const ids = query.get('ids')?.split(',').map(Number)
  return ids ? all.filter(({ id }) => ids.includes(id)) : all
}

/** A page, with a link to the next one if there is one. */
function toPage(call: PageCall, name: string, found: readonly object[]): RestAnswer {
  const { query, from, base } = call
  const limit = Number(query.get('limit') ?? '50')
  const fields = query.get('fields')?.split(',')
  const page = found.slice(from, from + limit)
  const shown = fields
    ? page.map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => fields.includes(name))))
    : page
  const next = Buffer.from(JSON.stringify({ from: from + limit, query: String(query) })).toString('base64url')
  const hasNext = from + limit < found.length
  return {
    ...ok({ [name]: shown }),
    ...(hasNext ? { link: `<${base}?page_info=${next}&limit=${limit}>; rel="next"` } : {}),
  }
}

/** A `page_info` contains the whole query: only `limit` and `fields` may be added. Null: invalid. */
function parsePage(query: URLSearchParams): { query: URLSearchParams; from: number } | null {
  const token = query.get('page_info')
  if (token === null) return { query, from: 0 }
  if ([...query.keys()].some((name) => !['page_info', 'limit', 'fields'].includes(name))) return null
  try {
    const kept = JSON.parse(Buffer.from(token, 'base64url').toString()) as { from: number; query: string }
    const asked = new URLSearchParams(kept.query)
    for (const name of ['limit', 'fields']) if (query.has(name)) asked.set(name, query.get(name)!)
    return { query: asked, from: kept.from }
  } catch {
    // A made-up value is invalid.
    return null
  }
}

const topics = new Set(
  [
    'orders/create',
    'orders/updated',
    'checkouts/create',
    'checkouts/update',
    'products/create',
    'products/update',
    'orders/delete',
    'app/uninstalled',
  ].concat(['products/delete', 'variants/in_stock', 'variants/out_of_stock']),
)

function createWebhook(shop: Shop, given: Record<string, unknown>): RestAnswer {
  const { topic, address, format } = given as { topic: string; address: string; format: string }
  if (!topics.has(topic)) return refused(422, { topic: ['Invalid topic specified'] })
  if (!address.startsWith('https://')) return refused(422, { address: ['is not allowed'] })
  if (format !== 'json') return refused(422, { format: ['is invalid'] })
  if (shop.webhooks.some((each) => each.topic === topic && each.address === address)) {
    return refused(422, { address: ['for this topic has already been taken'] })
  }
  const webhook = { id: shop.nextId(), topic, address }
  shop.webhooks.push(webhook)
  return { status: 201, body: { webhook } }
}
