/** Registers Tiendanube's webhooks by event and URL, checks their signatures and parses them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import type { WebhookTopic } from '../../port.ts'
import type { TiendanubeClient } from '../http/client.ts'

/**
 * Tiendanube's events by our topics. It reports no carts, and a changed stock as a changed product. `order.updated` also
 * registers the event for the uninstallation of the app.
 */
const eventsByTopic: Record<WebhookTopic, readonly string[]> = {
  'order.updated': [
    ...['order/created', 'order/updated', 'order/paid', 'order/packed', 'order/unpacked', 'order/fulfilled'],
    ...['order/cancelled', 'order/edited', 'order/pending', 'order/voided', 'app/uninstalled'],
  ],
  'cart.updated': [],
  'product.updated': ['product/created', 'product/updated', 'product/deleted'],
  'stock.updated': ['product/updated'],
}

/** All of Tiendanube's events for which webhooks are registered. */
export const expectedEvents: readonly string[] = [...new Set(Object.values(eventsByTopic).flat())]

function findKinds(event: string): string[] {
  if (event === 'app/uninstalled') return ['app.uninstalled']
  return (Object.keys(eventsByTopic) as WebhookTopic[]).filter((kind) => eventsByTopic[kind].includes(event))
}

interface ApiWebhook {
  id: number
  event: string
  url: string
}

/** `webhookId` joins the ids of all of Tiendanube's webhooks for the topic; empty if it has no such event. */
export async function registerWebhook(
  client: TiendanubeClient,
  store: ProviderStore,
  { topic, url }: { topic: WebhookTopic; url: string },
): Promise<{ webhookId: string; created: boolean }> {
  if (!url.startsWith('https://')) {
    throw new Refused(
      'invalid-address',
      'Tiendanube delivers webhooks to https addresses alone: this server needs one (PUBLIC_URL)',
    )
  }
  const events = eventsByTopic[topic]
  const known = events.length > 0 ? await listRegistered(client, store, url) : new Map<string, number>()
  const ids: number[] = []
  let created = false
  for (const event of events) {
    const there = known.get(event)
    ids.push(there ?? (await createWebhook(client, store, event, url)))
    created ||= there === undefined
  }
  return { webhookId: ids.join(','), created }
}

/** The ids of the registered webhooks with this URL, by event. */
export async function listRegistered(
  client: TiendanubeClient,
  store: ProviderStore,
  url: string,
): Promise<Map<string, number>> {
  const webhooks = await client.listAll<ApiWebhook>(store, { path: 'webhooks', query: { url } })
  return new Map(webhooks.filter((each) => each.url === url).map(({ event, id }) => [event, id]))
}

async function createWebhook(
  client: TiendanubeClient,
  store: ProviderStore,
  event: string,
  url: string,
): Promise<number> {
  try {
    const body = { event, url }
    return (await client.call<ApiWebhook>(store, { method: 'POST', path: 'webhooks', body })).id
  } catch (error) {
    const mayBeThere =
      error instanceof Refused || (error instanceof Unavailable && error.accepted === 'unknown')
    const other = mayBeThere ? (await listRegistered(client, store, url)).get(event) : undefined
    if (other !== undefined) return other
    throw error
  }
}

/**
 * Parses the events of a delivery. Deliveries have neither an id nor an instant: two changes of an order within a second
 * count as one, which is harmless, because handlers re-read the object. Throws `Refused` on a missing or wrong signature,
 * and on an invalid body.
 */
export function parseDelivery(
  headers: Headers,
  rawBody: Uint8Array,
  { secret, now }: { secret: string; now: Date },
): ProviderEvent[] {
  const given = Buffer.from(headers.get('x-linkedstore-hmac-sha256') ?? '', 'hex')
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the webhook is missing or wrong')
  }
  const body = readBody(rawBody)
  const receivedAt = now.toISOString()
  const digest = createHash('sha256').update(rawBody).digest('hex')
  const storeRef = String(body.store_id)
  const privacy = findPrivacyKind(body)
  const kinds = privacy ? [privacy] : findKinds(body.event ?? '')
  return kinds.map((kind) => ({
    key: `${digest}:${receivedAt.slice(0, 19)}:${kind}`,
    kind,
    occurredAt: receivedAt,
    storeRef,
    // The removal of the app names the app; our handlers compare the shop.
    data: privacy
      ? { id: storeRef, ...toDataSubject(body) }
      : { id: kind === 'app.uninstalled' ? storeRef : String(body.id) },
  }))
}

interface Body {
  store_id: number | string
  event?: string
  id?: number | string
  customer?: { id?: number | null; email?: string | null; phone?: string | null }
  orders_requested?: number[]
  orders_to_redact?: number[]
  data_request?: unknown
}

/** Privacy requests name no event: their fields tell them apart. */
function findPrivacyKind(body: Body): string | null {
  if (body.event !== undefined) return null
  if (body.orders_to_redact !== undefined) return 'customer.redacted'
  if (body.orders_requested !== undefined || body.data_request !== undefined) return 'customer.asked'
  return 'shop.redacted'
}

/** The person of a privacy request. */
function toDataSubject({ customer, orders_requested, orders_to_redact }: Body) {
  if (!customer) return {}
  return {
    customerId: customer.id ? String(customer.id) : null,
    email: customer.email || null,
    phone: customer.phone || null,
    orderIds: (orders_to_redact ?? orders_requested ?? []).map(String),
  }
}

export const parseShopId = (rawBody: Uint8Array): string => String(readBody(rawBody).store_id)

function readBody(rawBody: Uint8Array): Body {
  let body: Partial<Body> | null
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody)) as Partial<Body> | null
  } catch (error) {
    throw new Refused('bad-body', 'The body of the webhook cannot be read', { cause: error })
  }
  const storeId = body?.store_id
  const isNamed = typeof storeId === 'number' || (typeof storeId === 'string' && storeId !== '')
  if (body && isNamed && (body.event === undefined || body.id !== undefined)) return body as Body
  throw new Refused('bad-body', 'The body of the webhook names nothing')
}
