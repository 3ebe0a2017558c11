/** Registers Shopify's webhooks by topic and URL, checks their signatures and parses them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import { isPlausible } from '#runtime/values/sanitize'
import type { WebhookTopic } from '../../port.ts'
import {
  createWebhookDocument,
  type WebhookSubscriptionTopic,
  webhooksDocument,
} from '../documents/documents.ts'
import { requireNoErrors } from '../http/answers.ts'
import type { ShopifyClient } from '../http/client.ts'
import { plainId, toInstant } from '../http/ids.ts'

/**
 * Shopify's topics by our topics. `products/update` also reports changes of the stock. `order.updated` also registers the
 * topics for deleted orders and for the uninstallation of the app.
 */
const topicsByKind: Record<WebhookTopic, readonly string[]> = {
  'order.updated': ['orders/create', 'orders/updated', 'orders/delete', 'app/uninstalled'],
  'cart.updated': ['checkouts/create', 'checkouts/update'],
  'product.updated': ['products/create', 'products/update', 'products/delete'],
  'stock.updated': ['variants/in_stock', 'variants/out_of_stock'],
}

/** All of Shopify's topics for which webhooks are registered. */
export const shopifyTopics: readonly string[] = Object.values(topicsByKind).flat()

/** The event kinds of Shopify's topics that name no object to re-read. */
const specialKinds: Readonly<Record<string, string>> = {
  'orders/delete': 'order.deleted',
  'app/uninstalled': 'app.uninstalled',
  'customers/data_request': 'customer.asked',
  'customers/redact': 'customer.redacted',
  'shop/redact': 'shop.redacted',
}

function findKinds(topic: string): string[] {
  if (Object.hasOwn(specialKinds, topic)) return [specialKinds[topic]!]
  if (topic === 'products/update') return ['product.updated', 'stock.updated']
  return (Object.keys(topicsByKind) as WebhookTopic[]).filter((kind) => topicsByKind[kind].includes(topic))
}

/** A topic as GraphQL writes it: `orders/create` is `ORDERS_CREATE`. */
const toGraphTopic = (topic: string): WebhookSubscriptionTopic =>
  topic.replace('/', '_').toUpperCase() as WebhookSubscriptionTopic

/** `webhookId` joins the ids of all of Shopify's webhooks for the topic. */
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
  const ids: string[] = []
  let created = false
  for (const their of topicsByKind[topic]) {
    const there = known.get(their)
    ids.push(there ?? (await createWebhook(client, store, their, url)))
    created ||= there === undefined
  }
  return { webhookId: ids.join(','), created }
}

/** The ids of the registered webhooks with this URL, by Shopify's topic. */
export async function registeredTopics(
  client: ShopifyClient,
  store: ProviderStore,
  uri: string,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const read = (after: string | null) => client.graph(store, webhooksDocument, { uri, after })
  for await (const { webhookSubscriptions } of readPages(read, (page) =>
    getEndCursor(page.webhookSubscriptions.pageInfo),
  )) {
    for (const each of webhookSubscriptions.nodes) {
      const topic = shopifyTopics.find((its) => toGraphTopic(its) === each.topic)
      if (topic !== undefined && each.uri === uri) ids.set(topic, plainId(each.id))
    }
  }
  return ids
}

async function createWebhook(
  client: ShopifyClient,
  store: ProviderStore,
  topic: string,
  uri: string,
): Promise<string> {
  try {
    const { webhookSubscriptionCreate: made } = await client.graph(store, createWebhookDocument, {
      topic: toGraphTopic(topic),
      uri,
    })
    requireNoErrors(made?.userErrors ?? [])
    if (made?.webhookSubscription) return plainId(made.webhookSubscription.id)
    throw new Unavailable('unknown', 'Shopify did not say whether it registered the webhook')
  } catch (error) {
    const mayBeThere =
      error instanceof Refused || (error instanceof Unavailable && error.accepted === 'unknown')
    const other = mayBeThere ? (await registeredTopics(client, store, uri)).get(topic) : undefined
    if (other !== undefined) return other
    throw error
  }
}

/**
 * Parses the events of a delivery. Shopify may deliver the same id twice, and deliveries out of order. That is harmless,
 * because an event only names the changed object and handlers re-read it. Throws `Refused` on a missing or wrong signature,
 * and on an invalid body.
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
  // For an uninstallation, `updated_at` is when the shop was changed, not when the app was uninstalled.
  const updatedAt = topic === 'app/uninstalled' ? triggeredAt : (object.updated_at ?? triggeredAt)
  const isInstant = updatedAt !== null && isPlausible(Date.parse(updatedAt))
  return findKinds(topic).map((kind) => ({
    key: `${delivery}:${kind}`,
    kind,
    occurredAt: isInstant ? toInstant(updatedAt) : now.toISOString(),
    storeRef: shop,
    data: {
      id: String(object.id),
      ...(isInstant ? { updatedAt: toInstant(updatedAt) } : {}),
      ...(object.product_id ? { productId: String(object.product_id) } : {}),
      ...toDataSubject(object),
    },
  }))
}

interface Body {
  id: number | string
  product_id?: number
  updated_at?: string
  /** Present in privacy requests instead of `id`. */
  shop_id?: number
  customer?: { id?: number | null; email?: string | null; phone?: string | null }
  orders_requested?: number[]
  orders_to_redact?: number[]
}

/** The person of a privacy request; empty for other topics. */
function toDataSubject({ customer, orders_requested, orders_to_redact }: Body) {
  const orders = orders_to_redact ?? orders_requested
  if (!orders) return {}
  return {
    customerId: customer?.id ? String(customer.id) : null,
    email: customer?.email || null,
    phone: customer?.phone || null,
    orderIds: orders.map(String),
  }
}

/** The shop's id: `shop_id`, or `id` if the object is the shop itself. */
export function parseShopId(rawBody: Uint8Array): string {
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
