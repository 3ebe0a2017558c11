/** A shopper's browser: calls of storefront pages, and their effects. */
import type { Shop } from './store.ts'

export interface Visited {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  body: any
  text: string
  headers: Headers
}

/** Calls a page below `/storefront/:publicId`; a body makes it a POST. */
export async function visit(
  shop: Pick<Shop, 'publicId' | 'app'>,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; ip?: string; publicId?: string } = {},
): Promise<Visited> {
  const { body, headers = {}, ip = '10.0.0.1', publicId = shop.publicId } = options
  const response = await shop.app.fetch(
    new Request(`http://localhost/storefront/${publicId}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    { ip },
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return {
    status: response.status,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
    headers: response.headers,
  }
}

let visitors = 0
/** A new visitor's id. */
export function someVisitor(): string {
  visitors += 1
  return `visitor-${String(visitors).padStart(12, '0')}`
}

export interface SentEvent {
  type: string
  widget: string
  id?: string
  resourceId?: string
  productId?: string
  variantId?: string
  contact?: object
}

/** Sends events of one visitor, each with its own id unless given. */
export const sendEvents = (
  shop: Pick<Shop, 'publicId' | 'app'>,
  events: readonly SentEvent[],
  options: { visitorId?: string; headers?: Record<string, string>; ip?: string; device?: string } = {},
): Promise<Visited> => {
  const { visitorId = someVisitor(), device, ...rest } = options
  const body = {
    visitorId,
    ...(device ? { device } : {}),
    events: events.map((event) => ({ id: crypto.randomUUID(), ...event })),
  }
  return visit(shop, '/events', { ...rest, body })
}
