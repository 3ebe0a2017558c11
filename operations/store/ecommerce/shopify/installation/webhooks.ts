/** Shopify's webhooks: registered by topic and address, signed with the secret of the app, read when they arrive. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import { isPlausible } from '#runtime/values/storable'
import type { WebhookTopic } from '../../port.ts'
import type { ShopifyClient } from '../http/client.ts'
import { instantOf } from '../http/ids.ts'

/** Which of theirs tell of ours. A product's update tells of its stock too; with orders comes what ends them, and us. */
const theirs: Record<WebhookTopic, readonly string[]> = {
  'order.updated': ['orders/create', 'orders/updated', 'orders/delete', 'app/uninstalled'],
  'cart.updated': ['checkouts/create', 'checkouts/update'],
  'product.updated': ['products/create', 'products/update', 'products/delete'],
  'stock.updated': ['variants/in_stock', 'variants/out_of_stock'],
}

/** All that are asked for. */
export const theirTopics: readonly string[] = Object.values(theirs).flat()

/** What tells of no object that is read anew. */
const others: Readonly<Record<string, string>> = {
  'orders/delete': 'order.deleted',
  'app/uninstalled': 'app.uninstalled',
  'customers/data_request': 'customer.asked',
  'customers/redact': 'customer.redacted',
  'shop/redact': 'shop.redacted',
}

function kindsOf(topic: string): string[] {
  if (Object.hasOwn(others, topic)) return [others[topic]!]
  if (topic === 'products/update') return ['product.updated', 'stock.updated']
  return (Object.keys(theirs) as WebhookTopic[]).filter((kind) => theirs[kind].includes(topic))
}

interface RestWebhook {
  id: number
  topic: string
  address: string
}

/** The id is those of all of theirs. */
export async function registerWebhook(
  client: ShopifyClient,
  store: ProviderStore,
  { topic, url }: { topic: WebhookTopic; url: string },
): Promise<{ webhookId: string; created: boolean }> {
  if (!url.startsWith('https://')) {
    throw new Refused(
      'invalid-address',
      'Shopify delivers webhooks to https addresses alone: this server needs one (PUBLIC_URL)',
    )
  }
  const known = await registeredTopics(client, store, url)
  const ids: number[] = []
  let created = false
  for (const their of theirs[topic]) {
    const there = known.get(their)
    ids.push(there ?? (await create(client, store, their, url)))
    created ||= there === undefined
  }
  return { webhookId: ids.join(','), created }
}

/** The ids of those for this address, by topic. */
export async function registeredTopics(
  client: ShopifyClient,
  store: ProviderStore,
  address: string,
): Promise<Map<string, number>> {
  const { body } = await client.rest<{ webhooks: RestWebhook[] }>(store, {
    path: 'webhooks.json',
    query: { address, limit: 250 },
  })
  return new Map(body.webhooks.filter((each) => each.address === address).map(({ topic, id }) => [topic, id]))
}

async function create(
  client: ShopifyClient,
  store: ProviderStore,
  topic: string,
  address: string,
): Promise<number> {
  try {
    const { body } = await client.rest<{ webhook: RestWebhook }>(store, {
      method: 'POST',
      path: 'webhooks.json',
      body: { webhook: { topic, address, format: 'json' } },
    })
    return body.webhook.id
  } catch (error) {
    const mayBeThere =
      error instanceof Refused || (error instanceof Unavailable && error.accepted === 'unknown')
    const other = mayBeThere ? (await registeredTopics(client, store, address)).get(topic) : undefined
    if (other !== undefined) return other
    throw error
  }
}

/**
 * The events in a delivery. Shopify may bring one twice, with the same id, and in any order: an event names what
 * changed, and whoever hears of it reads that anew. Throws `Refused` on a missing or wrong signature, and on a body of
 * another form.
 */
export function parseDelivery(
  headers: Headers,
  rawBody: Uint8Array,
  { secret, now }: { secret: string; now: Date },
): ProviderEvent[] {
  const given = Buffer.from(headers.get('x-shopify-hmac-sha256') ?? '', 'base64')
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the webhook is missing or wrong')
  }
  const object = readBody(rawBody)
  const topic = headers.get('x-shopify-topic') ?? ''
  const shop = headers.get('x-shopify-shop-domain')
  const delivery =
    headers.get('x-shopify-webhook-id') ??
    createHash('sha256').update(`${shop} ${topic} `).update(rawBody).digest('hex')
  const triggeredAt = headers.get('x-shopify-triggered-at')
  // When the app was removed is not when the shop was changed.
  const updatedAt = topic === 'app/uninstalled' ? triggeredAt : (object.updated_at ?? triggeredAt)
  const isInstant = updatedAt !== null && isPlausible(Date.parse(updatedAt))
  return kindsOf(topic).map((kind) => ({
    key: `${delivery}:${kind}`,
    kind,
    occurredAt: isInstant ? instantOf(updatedAt) : now.toISOString(),
    storeRef: shop,
    data: {
      id: String(object.id),
      ...(isInstant ? { updatedAt: instantOf(updatedAt) } : {}),
      ...(object.product_id ? { productId: String(object.product_id) } : {}),
      ...personIn(object),
    },
  }))
}

interface Body {
  id: number | string
  product_id?: number
  updated_at?: string
  /** What a request of privacy has in the place of an id. */
  shop_id?: number
  customer?: { id?: number | null; email?: string | null; phone?: string | null }
  orders_requested?: number[]
  orders_to_redact?: number[]
}

/** Whose data a request is about, where it is one. */
function personIn({ customer, orders_requested, orders_to_redact }: Body) {
  const orders = orders_to_redact ?? orders_requested
  if (!orders) return {}
  return {
    customerId: customer?.id ? String(customer.id) : null,
    email: customer?.email || null,
    phone: customer?.phone || null,
    orderIds: orders.map(String),
  }
}

/** The shop that a delivery is of, by its id: of itself where it tells of the shop. */
export function shopIdOf(rawBody: Uint8Array): string {
  const { id, shop_id: shopId } = readBody(rawBody)
  return String(shopId ?? id)
}

function readBody(rawBody: Uint8Array): Body {
  let body: Partial<Body> | null
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody)) as Partial<Body> | null
  } catch (error) {
    throw new Refused('bad-body', 'The body of the webhook cannot be read', { cause: error })
  }
  const id = body?.id ?? body?.shop_id
  if (typeof id === 'number' || (typeof id === 'string' && id !== '')) return { ...body, id }
  throw new Refused('bad-body', 'The body of the webhook names nothing')
}
