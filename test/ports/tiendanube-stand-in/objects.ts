/** Single objects and writes of the stand-in. */
import type { ApiCoupon } from '#operations/store/ecommerce/tiendanube/coupons'
import { type ApiAnswer, fail, invalid, pickFields } from './lists.ts'
import { currency, type Shop } from './shop.ts'

export interface ApiWrite {
  method: string
  path: string
  query: URLSearchParams
  body: Record<string, unknown> | null
  scriptId: number
}

const notFound = fail(404, 'Not Found', 'The object does not exist')
const webhookEvents =
  /^(?:app\/(?:uninstalled|suspended|resumed)|category\/(?:created|updated|deleted)|customer\/(?:created|updated|deleted)|order\/(?:created|updated|paid|packed|fulfilled|cancelled|custom_fields_updated|edited|pending|voided|unpacked)|product\/(?:created|updated|deleted)|domain\/updated)$/

export function answerObject(shop: Shop, write: ApiWrite): ApiAnswer {
  const { method, path, query } = write
  const [resource = '', id, ...below] = path.split('/')
  if (method === 'GET' && path === 'store')
    return { status: 200, body: pickFields(describe(shop), query.get('fields')) }
  if (method === 'GET' && resource === 'orders' && id) {
    const order = shop.orders.find((each) => String(each.id) === id)
    if (!order) return notFound
    if (below.length === 0) return { status: 200, body: pickFields({ ...order }, query.get('fields')) }
    return below.join('/') === 'history/values' ? { status: 200, body: order.history } : notFound
  }
  if (resource === 'promotions' || resource === 'discounts') return answerPromotions(shop, write, id)
  if (resource === 'coupons') return writeCoupon(shop, write, id)
  if (resource === 'webhooks' && method === 'POST') return createWebhook(shop, write)
  if (resource === 'scripts') return answerScripts(shop, write, id)
  return notFound
}

const describe = (shop: Shop) => ({
  id: shop.id,
  name: { pt: 'Loja', es: 'Tienda' },
  country: 'BR',
  domains: shop.domains,
  original_domain: shop.originalDomain,
  main_currency: currency,
  main_language: 'pt',
  plan_name: 'Business',
})

/** The fields that are not in the documentation, as it refuses invalid ones. */
const findUnknown = (body: Record<string, unknown>, known: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    Object.keys(body).flatMap((field) => (known.includes(field) ? [] : [[field, ['is not allowed']]])),
  )

const couponFields = [
  ...['code', 'type', 'value', 'valid', 'max_uses', 'min_price', 'start_date', 'end_date', 'categories'],
  ...['products', 'includes_shipping', 'first_consumer_purchase', 'combines_with_other_discounts'],
  'only_cheapest_shipping',
]

function writeCoupon(shop: Shop, { method, body }: ApiWrite, id: string | undefined): ApiAnswer {
  if (method === 'DELETE' && id) {
    if (!shop.coupons.some((each) => String(each.id) === id)) return notFound
    shop.coupons = shop.coupons.filter((each) => String(each.id) !== id)
    return { status: 200, body: {} }
  }
  if (method !== 'POST' || !body) return notFound
  const faults: Record<string, string[]> = findUnknown(body, couponFields)
  const { code, type, value, min_price: least } = body as Partial<ApiCoupon>
  if (typeof code !== 'string' || !/^[\w-]+$/.test(code)) faults.code = ['must be alphanumeric']
  else if (shop.coupons.some((each) => each.code.toLowerCase() === code.toLowerCase())) {
    faults.code = ['has already been taken']
  }
  if (!['percentage', 'absolute', 'shipping'].includes(type ?? '')) faults.type = ['is invalid']
  if (type !== 'shipping' && (value === undefined || value === null)) faults.value = ["can't be blank"]
  if (type === 'percentage' && Number(value) > 100) faults.value = ['must be at most 100']
  if (least !== null && least !== undefined && typeof least !== 'number')
    faults.min_price = ['must be numeric']
  if (Object.keys(faults).length > 0) return invalid(faults)
  const coupon = {
    valid: true,
    max_uses: null,
    start_date: null,
    end_date: null,
    min_price: null,
    categories: null,
    ...(body as object),
    id: shop.nextId(),
    used: null,
    value: type === 'shipping' ? null : Number(value).toFixed(2),
  } as unknown as ApiCoupon
  shop.coupons.push(coupon)
  return { status: 201, body: coupon }
}

function createWebhook(shop: Shop, { body }: ApiWrite): ApiAnswer {
  const { event, url, ...more } = body as { event?: string; url?: string }
  const faults: Record<string, string[]> = findUnknown(more, [])
  if (!webhookEvents.test(event ?? '')) faults.event = ['Invalid event specified.']
  if (!/^https:\/\/(?!localhost|[^/]*(?:tiendanube|nuvemshop)\.com)/.test(url ?? '')) {
    faults.url = ['invalid url specified']
  }
  if (shop.webhooks.some((each) => each.event === event && each.url === url)) faults.url = ['is taken']
  if (Object.keys(faults).length > 0) return invalid(faults)
  const webhook = { id: shop.nextId(), event: event!, url: url! }
  shop.webhooks.push(webhook)
  return { status: 201, body: webhook }
}

function answerScripts(shop: Shop, { method, body, scriptId }: ApiWrite, id: string | undefined): ApiAnswer {
  const show = (script: Shop['scripts'][number]) => ({
    ...script,
    name: 'Widgets',
    event: 'onfirstinteraction',
    location: 'store',
    updated_at: script.created_at,
    is_auto_install: false,
    status: 'active',
    current_version: { id: 1, src: 'https://apps-scripts.tiendanube.com/app/widgets/1.js', version: 1 },
    draft_version: null,
  })
  if (method === 'GET' && !id) {
    return { status: 200, body: { result: shop.scripts.map(show), total: shop.scripts.length } }
  }
  // `src` and `event` are fields of before the partner portal: they register nothing any more.
  const faults = findUnknown(body ?? {}, ['script_id', 'query_params'])
  if (Object.keys(faults).length > 0) return invalid(faults)
  if (body?.script_id !== scriptId) return notFound
  const params = JSON.parse(String(body.query_params)) as Record<string, unknown>
  const known = shop.scripts.find((each) => each.id === scriptId)
  if (method === 'POST' && !id) {
    if (known) return invalid({ script_id: ['is already associated'] })
    const script = { id: scriptId, params, created_at: shop.now() }
    shop.scripts.push(script)
    return { status: 201, body: show(script) }
  }
  if (method !== 'PUT' || !known || id !== String(scriptId)) return notFound
  known.params = params
  return { status: 200, body: show(known) }
}

const promotionFields = [
  ...['name', 'description', 'disclaimer', 'allocation_type', 'active', 'translations'],
  ...['combines_with_quantity_discounts', 'combines_with_free_shipping', 'combines_with_price_discounts'],
  ...['combines_with_cart_amount_discounts', 'combines_with_app_discounts'],
]
const refuseDiscount = (status: number, detail: string): ApiAnswer => ({
  status,
  body: { error: { status, code: 'BadRequestException', detail: [detail] } },
})

function answerPromotions(shop: Shop, { method, path, body }: ApiWrite, id: string | undefined): ApiAnswer {
  if (method === 'PUT' && path === 'discounts/callbacks') {
    if (!/^https?:\/\/./.test(String(body?.url))) return refuseDiscount(400, 'url must be a URL address')
    shop.callbackUrl = String(body!.url)
    return { status: 204, body: null }
  }
  if (method === 'GET' && path === 'promotions') return { status: 200, body: { data: shop.promotions } }
  if (method === 'POST' && path === 'promotions') {
    const [unknown] = Object.keys(findUnknown(body ?? {}, promotionFields))
    if (unknown) return refuseDiscount(400, `property ${unknown} should not exist`)
    if (typeof body?.name !== 'string' || body.name === '')
      return refuseDiscount(400, 'name must be a string')
    if (body.allocation_type !== 'cross_items' && body.allocation_type !== 'line_item') {
      return refuseDiscount(400, 'allocation_type must be a valid enum value')
    }
    const promotion = { id: `promotion-${shop.nextId()}`, name: body.name, active: body.active === true }
    shop.promotions.push(promotion)
    return { status: 201, body: { data: { id: promotion.id } } }
  }
  if (method !== 'DELETE' || !shop.promotions.some((each) => each.id === id)) return notFound
  shop.promotions = shop.promotions.filter((each) => each.id !== id)
  return { status: 204, body: null }
}
