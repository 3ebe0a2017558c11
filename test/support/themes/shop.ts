/**
 * A Shopify shop with a real theme (Dawn or Horizon, unpacked from `../shared/themes`): its pages, assets, Ajax cart API
 * and Section Rendering API (https://shopify.dev/docs/api/ajax). Products are those of `everythingOn`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Theme } from './liquid.ts'
import { listProducts } from './listing.ts'

// biome-ignore lint/suspicious/noExplicitAny: Liquid's values have any shape
type Any = any

export const themeNames = ['dawn', 'horizon'] as const
export type ThemeName = (typeof themeNames)[number]

const archives = new URL('../../../../shared/themes/', import.meta.url).pathname
const unpacked = new URL('../../../.tmp/themes/', import.meta.url).pathname

export const hasThemes = themeNames.every((name) => existsSync(`${archives}${name}.tar.gz`))

function unpack(name: ThemeName): string {
  const folder = `${unpacked}${name}`
  if (!existsSync(`${folder}/layout`)) {
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['xzf', `${archives}${name}.tar.gz`, '-C', folder, '--strip-components=1'])
  }
  return folder
}

const picture = (n: number, color: string): Any => {
  const src = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800"><rect width="800" height="800" fill="${color}"/></svg>`)}`
  const size = { width: 800, height: 800, aspect_ratio: 1 }
  return {
    ...{
      id: n,
      src,
      media_type: 'image',
      alt: 'Picture',
      position: n,
      presentation: { focal_point: '50% 50%' },
    },
    ...size,
    preview_image: { src, ...size },
  }
}

export interface ProductOf {
  id: string
  handle: string
  title: string
  variants: { id: string; title: string; price: number; isAvailable?: boolean }[]
}

function makeProduct({ id, handle, title, variants: given }: ProductOf, chosen: string | null): Any {
  const media = [picture(Number(id) * 10, '#c7d2fe'), picture(Number(id) * 10 + 1, '#fde68a')]
  const variants = given.map(({ id: variantId, title: name, price, isAvailable = true }, n) => ({
    ...{ id: Number(variantId), title: name, price: price * 100, available: isAvailable, options: [name] },
    ...{
      option1: name,
      sku: `S-${variantId}`,
      featured_media: null,
      featured_image: null,
      compare_at_price: null,
    },
    ...{
      inventory_management: 'shopify',
      inventory_policy: 'deny',
      inventory_quantity: 5,
      quantity_price_breaks: [],
    },
    ...{
      quantity_rule: { min: 1, max: null, increment: 1 },
      url: `/products/${handle}?variant=${variantId}`,
      position: n,
    },
    requires_selling_plan: false,
    selling_plan_allocations: [],
  }))
  const selected = variants.find((each) => String(each.id) === chosen) ?? variants[0]!
  const hasOne = variants.length === 1
  const values = variants.map((variant) =>
    Object.assign(new String(variant.title), {
      ...{ id: variant.id + 900_000, name: variant.title, selected: variant === selected, variant },
      ...{ available: variant.available, product_url: null, swatch: null },
    }),
  )
  const option = { name: 'Size', position: 1, selected_value: selected.title, values }
  return {
    object_type: 'product',
    ...{ id: Number(id), handle, title, url: `/products/${handle}`, vendor: 'Shop', type: 'Thing', tags: [] },
    ...{ price: selected.price, price_min: selected.price, price_max: selected.price, price_varies: false },
    ...{
      compare_at_price: null,
      available: variants.some((each) => each.available),
      variants,
      variants_count: variants.length,
    },
    ...{ selected_or_first_available_variant: selected, first_available_variant: selected },
    selected_variant: chosen ? selected : null,
    has_only_default_variant: hasOne,
    options: ['Size'],
    options_with_values: hasOne ? [] : [option],
    options_by_name: {},
    description: '<p>Made with care, to be used every day.</p>',
    content: '<p>Made with care, to be used every day.</p>',
    ...{ media, images: media, featured_media: media[0], featured_image: media[0], metafields: {} },
    ...{ requires_selling_plan: false, selling_plan_groups: [], quantity_price_breaks_configured: false },
    created_at: '2026-01-01',
    published_at: '2026-01-01',
  }
}

export const threeProducts: readonly ProductOf[] = [
  {
    ...{ id: '1001', handle: 'caneca', title: 'Caneca' },
    variants: [
      { id: '2001', title: 'P', price: 120 },
      { id: '2002', title: 'M', price: 60 },
    ],
  },
  {
    id: '1002',
    handle: 'avental',
    title: 'Avental',
    variants: [{ id: '2003', title: 'Default Title', price: 100 }],
  },
  {
    ...{ id: '1003', handle: 'bule-de-agata', title: 'Bule de ágata' },
    variants: [{ id: '2004', title: 'Default Title', price: 89.9, isAvailable: false }],
  },
]

/**
 * Stands in for the module of standard events that Horizon imports from Shopify's CDN; its interface is what the theme's
 * own code and its type comments use.
 */
const standardEvents = `
const nameOf = (kind) => 'shopify:' + kind[0].toLowerCase() + kind.slice(1)
export const StandardEvents = new Proxy({}, { get: (_all, kind) => nameOf(kind) })
const standard = (kind) => class extends Event {
  constructor(given = {}) { super(nameOf(kind), { bubbles: true }); Object.assign(this, given) }
  static createPromise() { return Promise.withResolvers() }
  static createCartFromAjaxResponse(cart) { return cart }
  static parseProductFilters() {}
  static getSortKey() {}
}
${[
  'CartDiscountUpdate',
  'CartError',
  'CartLinesUpdate',
  'CartNoteUpdate',
  'CollectionUpdate',
  'SearchUpdate',
  'ProductSelect',
  'PageView',
]
  .map((kind) => `export const ${kind}Event = standard('${kind}')`)
  .join('\n')}
export const createViewEventElement = (Base = HTMLElement) => class extends Base {}
`

/** Settings, also of sections, that merchants often choose. */
const choices: Record<ThemeName, Record<string, unknown>> = {
  dawn: { cart_type: 'drawer', quick_add: 'standard' },
  horizon: {
    ...{ cart_type: 'drawer', auto_open_cart_drawer: true, quick_add: true, mobile_quick_add: true },
    ...{ enable_sticky_add_to_cart: true, page_transition_enabled: true, transition_to_main_product: true },
  },
}

export interface ThemeShop {
  origin: string
  /** Addresses that the theme asked for and that the shop does not have. */
  missing: string[]
  close(): Promise<void>
}

/**
 * The shop's server on its own port. `embed` renders what the app's embed block adds to a page's head, from the page and
 * its product.
 */
export async function openThemeShop(
  name: ThemeName,
  embed: (page: { template: string; product: Any; cart: Any }) => string,
  products: readonly ProductOf[] = threeProducts,
): Promise<ThemeShop> {
  const folder = unpack(name)
  const theme = new Theme(folder, choices[name])
  const missing: string[] = []
  let lines: { variantId: string; quantity: number }[] = []

  const find = (handle: string) => products.find((each) => each.handle === handle)
  const readCart = (): Any => {
    const items = lines.map(({ variantId, quantity }, n) => {
      const owner = products.find((each) => each.variants.some((variant) => variant.id === variantId))!
      const product = makeProduct(owner, variantId)
      const variant = product.selected_or_first_available_variant
      const total = variant.price * quantity
      return {
        ...{
          key: `${variantId}:${n}`,
          id: variant.id,
          variant_id: variant.id,
          product_id: product.id,
          quantity,
        },
        ...{ title: product.title, product_title: product.title, handle: product.handle, url: variant.url },
        ...{ price: variant.price, original_price: variant.price, final_price: variant.price },
        ...{ final_line_price: total, original_line_price: total, line_level_discount_allocations: [] },
        ...{ image: product.featured_media, product, variant, options_with_values: [], properties: {} },
        ...{ discount_allocations: [], discounts: [], error_message: null },
      }
    })
    const total = items.reduce((sum, each) => sum + each.final_line_price, 0)
    return {
      ...{ items, item_count: lines.reduce((sum, each) => sum + each.quantity, 0), note: '', attributes: {} },
      ...{ total_price: total, original_total_price: total, items_subtotal_price: total, total_discount: 0 },
      ...{
        currency: Object.assign(new String('BRL'), { iso_code: 'BRL' }),
        cart_level_discount_applications: [],
      },
      ...{
        discount_applications: [],
        'empty?': lines.length === 0,
        taxes_included: true,
        duties_included: false,
      },
    }
  }
  const plain = (cart: Any): Any => ({
    ...cart,
    currency: 'BRL',
    items: cart.items.map(({ product: _product, variant: _variant, ...rest }: Any) => rest),
  })

  function scopeOf(url: URL): { template: string; scope: Any } | null {
    const all = products.map((each) => makeProduct(each, null))
    const scope: Any = { ...listProducts(url, all), cart: readCart() }
    const handle = /^\/(?:collections\/[^/]+\/)?products\/([^/]+)$/.exec(url.pathname)?.[1]
    if (handle) {
      const owner = find(handle)
      if (!owner) return null
      const value = url.searchParams.get('option_values')
      const chosen = value ? String(Number(value) - 900_000) : url.searchParams.get('variant')
      return { template: 'product', scope: { ...scope, product: makeProduct(owner, chosen) } }
    }
    if (url.pathname === '/') return { template: 'index', scope }
    if (/^\/variants\//.test(url.pathname)) return { template: 'product', scope }
    if (url.pathname === '/cart') return { template: 'cart', scope }
    if (/^\/collections\/\w+$/.test(url.pathname)) return { template: 'collection', scope }
    if (/^\/(recommendations\/products|search(\/suggest)?)$/.test(url.pathname)) {
      const id = url.searchParams.get('product_id')
      const owner = products.find((each) => each.id === id)
      return {
        template: url.pathname === '/search' ? 'search' : 'product',
        scope: { ...scope, product: owner && makeProduct(owner, null) },
      }
    }
    return null
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, 'http://shop')
    const answer = (status: number, type: string, body: string | Buffer) => {
      response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'max-age=60' })
      response.end(body)
    }
    const json = (body: unknown) => answer(200, 'application/json', JSON.stringify(body))
    try {
      if (url.pathname.startsWith('/assets/')) {
        const file = `${folder}${url.pathname}`
        const type = /\.js$/.test(file)
          ? 'text/javascript'
          : /\.css$/.test(file)
            ? 'text/css'
            : 'image/svg+xml'
        if (url.pathname === '/assets/app-styles.css')
          return answer(200, 'text/css', [...theme.styles.values()].join('\n'))
        if (existsSync(file)) return answer(200, type, readFileSync(file))
        missing.push(url.pathname)
        return answer(404, 'text/plain', '')
      }
      if (url.pathname === '/standard-events.js') return answer(200, 'text/javascript', standardEvents)
      const cartCall = /^\/cart(?:\/(add|change|update|clear))?(?:\.js|\.json)?$/.exec(url.pathname)
      if (cartCall && (request.method === 'POST' || /\.js(on)?$/.test(url.pathname))) {
        const given = await readForm(request)
        if (cartCall[1] === 'add')
          lines = [...lines, { variantId: given.id!, quantity: Number(given.quantity ?? 1) }]
        if (cartCall[1] === 'change') {
          const at = Number(given.line) - 1
          lines = lines.flatMap((each, n) =>
            n !== at
              ? [each]
              : Number(given.quantity) > 0
                ? [{ ...each, quantity: Number(given.quantity) }]
                : [],
          )
        }
        if (cartCall[1] === 'clear') lines = []
        const cart = plain(readCart())
        const sections = await renderSections(given.sections, new URL(given.sections_url || '/', url))
        return json(cartCall[1] === 'add' ? { ...cart.items.at(-1), sections } : { ...cart, sections })
      }
      const found = scopeOf(url)
      if (!found) {
        missing.push(url.pathname)
        return answer(404, 'text/html', 'Not found')
      }
      const { template, scope } = found
      const wanted = url.searchParams.get('section_id')
      if (wanted) {
        const html = await theme.section(wanted, template, scope)
        return html === null ? answer(404, 'text/html', '') : answer(200, 'text/html', html)
      }
      const sections = url.searchParams.get('sections')
      if (sections) return json(await renderSections(sections, url))
      const head = embed({ template, product: scope.product, cart: plain(scope.cart) })
      const shopify = `<script>window.Shopify = { routes: { root: '/' }, designMode: false, currency: { active: 'BRL' },
        country: 'BR', locale: 'en' }</script><link rel="icon" href="data:,">`
      const html = await theme.page(template, { ...scope, content_for_header: `${shopify}${head}` })
      // Our own picture has one size.
      const page = html
        .replace(/ srcset="[^"]*"/g, '')
        .replace('https://cdn.shopify.com/storefront/standard-events.js', '/standard-events.js')
        .replace('</head>', '<link rel="stylesheet" href="/assets/app-styles.css"></head>')
      answer(200, 'text/html', page)
    } catch (error) {
      missing.push(`${url.pathname}: ${(error as Error).message}`)
      answer(500, 'text/plain', String((error as Error).stack))
    }
  })

  async function renderSections(names: string | null | undefined, url: URL): Promise<Any> {
    if (!names) return undefined
    const { template, scope } = scopeOf(url) ?? scopeOf(new URL('/cart', url))!
    const all = await Promise.all(
      names.split(',').map(async (id) => [id, await theme.section(id, template, scope)] as const),
    )
    return Object.fromEntries(all)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, missing, close }
}

async function readForm(
  request: AsyncIterable<Buffer> & { headers: Any; method?: string },
): Promise<Record<string, string>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (chunks.length === 0) return {}
  const type = String(request.headers['content-type'] ?? '')
  const body = Buffer.concat(chunks)
  if (type.startsWith('application/json')) {
    const { items, sections, ...rest } = JSON.parse(body.toString())
    return { ...rest, ...items?.[0], ...(sections ? { sections: [sections].flat().join(',') } : {}) }
  }
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  return Object.fromEntries([...form].map(([name, value]) => [name, String(value)]))
}
