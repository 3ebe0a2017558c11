/** The sandbox's webhooks: registers them by topic and URL, and signs and parses their deliveries like a platform. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import type { PlatformOrder, WebhookTopic } from './port.ts'
import type { WrittenCart } from './sandbox-carts.ts'
import { findObjects, instantText, listObjects, putObjects, type Shop, withShopLock } from './sandbox-rows.ts'

/** The header with the HMAC-SHA256 of the raw body under the webhook's secret, in hex. */
export const signatureHeader = 'x-sandbox-signature'

interface StoredWebhook {
  id: string
  topic: WebhookTopic
  url: string
  secret: string
}

interface WebhookBody {
  topic: WebhookTopic
  shop: string
  occurredAt: string
  object: WebhookObject
}

interface WebhookObject {
  id: string
  updatedAt: string
  /** Set if the object is a variant. */
  productId?: string
}

/** A webhook request as the platform sends it. */
export interface Delivery {
  url: string
  headers: Record<string, string>
  body: string
}

/** Registers one webhook per topic and URL; a new secret replaces the old one. */
export function registerWebhook(
  shop: Shop,
  webhook: { topic: WebhookTopic; url: string; secret: string },
): Promise<{ webhookId: string; created: boolean }> {
  const id = createHash('sha256').update(`${webhook.topic} ${webhook.url}`).digest('hex').slice(0, 24)
  return withShopLock(shop, async (locked) => {
    const [known] = await findObjects<StoredWebhook>(locked, 'webhook', [id])
    if (known?.secret !== webhook.secret) {
      const updatedAt = instantText(shop.clock.now())
      await putObjects(locked, 'webhook', [{ id, data: { id, ...webhook }, updatedAt }])
    }
    return { webhookId: id, created: known === undefined }
  })
}

/** Builds the webhook requests for a changed object, one for each webhook registered for the topic. */
export async function buildWebhookDeliveries(
  shop: Shop,
  topic: WebhookTopic,
  object: WebhookObject,
): Promise<Delivery[]> {
  const webhooks = await listObjects<StoredWebhook>(shop, 'webhook')
  const content: WebhookBody = {
    topic,
    shop: shop.storeId,
    occurredAt: object.updatedAt,
    object: {
      id: object.id,
      updatedAt: object.updatedAt,
      ...(object.productId ? { productId: object.productId } : {}),
    },
  }
  const body = JSON.stringify(content)
  return webhooks
    .filter((webhook) => webhook.topic === topic)
    .map(({ url, secret }) => ({
      url,
      headers: {
        'content-type': 'application/json',
        [signatureHeader]: createHmac('sha256', secret).update(body).digest('hex'),
      },
      body,
    }))
}
export const buildOrderDeliveries = (shop: Shop, order: PlatformOrder): Promise<Delivery[]> =>
  buildWebhookDeliveries(shop, 'order.updated', order)

export const buildCartDeliveries = (shop: Shop, { cart, updatedAt }: WrittenCart): Promise<Delivery[]> =>
  buildWebhookDeliveries(shop, 'cart.updated', { id: cart.id, updatedAt })

/** Parses a delivery. Throws `Refused` on a missing or wrong signature, and on an invalid body. */
export function parseDelivery(headers: Headers, rawBody: Uint8Array, secret: string): ProviderEvent[] {
  const given = Buffer.from(headers.get(signatureHeader) ?? '', 'hex')
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refused('bad-signature', 'The signature of the webhook is missing or wrong')
  }
  const { topic, shop, occurredAt, object } = readBody(rawBody)
  return [
    {
      key: `${shop}:${topic}:${object.id}:${object.updatedAt}`,
      kind: topic,
      occurredAt,
      storeRef: shop,
      data: object,
    },
  ]
}

function readBody(rawBody: Uint8Array): WebhookBody {
  try {
    const body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody)) as WebhookBody
    const texts = [body.topic, body.shop, body.occurredAt, body.object.id, body.object.updatedAt]
    if (texts.every((text) => typeof text === 'string' && text !== '')) return body
  } catch (error) {
    throw new Refused('bad-body', 'The body of the webhook cannot be read', { cause: error })
  }
  throw new Refused('bad-body', 'The body of the webhook lacks a field')
}
