/** Stores with popup and form on, and shoppers who fill them in. */
import updateFormSettings from '#operations/capture/contact-form/api/update-form-settings'
import saveSettings from '#operations/capture/popup/api/save-settings'
import type { TestApp } from './app.ts'
import { type ConnectedShop, connectedStore } from './platform.ts'
import type { Answer, Shop } from './store.ts'

let addresses = 0
/** A new address: limits count by address. */
export const newAddress = (): string => {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/** Calls the storefront as a shopper's browser does; the answer's `body` is parsed if it is JSON. */
export async function visit(
  shop: Shop,
  method: 'GET' | 'POST',
  path: string,
  options: { body?: unknown; ip?: string; accept?: string; publicId?: string; type?: string } = {},
): Promise<Answer & { text: string }> {
  const { body, ip = newAddress(), publicId = shop.publicId } = options
  const response = await shop.app.fetch(
    new Request(`http://localhost/storefront/${publicId}${path}`, {
      method,
      headers: {
        ...(options.accept ? { accept: options.accept } : {}),
        ...(body === undefined ? {} : { 'content-type': options.type ?? 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
    { ip },
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: isJson ? JSON.parse(text) : null, text, headers: response.headers }
}

/** A form's token as a person has it: read two seconds ago. */
export async function readToken(shop: Shop, path = '/newsletter'): Promise<string> {
  const { body } = await visit(shop, 'GET', path)
  await shop.app.advance(2000)
  return body.token
}

export interface PopupShop extends ConnectedShop {
  token: string
  /** Fills in the popup. */
  subscribe(fields: Record<string, unknown>, ip?: string): Promise<Answer>
  save(settings: Record<string, unknown>): Promise<Answer>
}

export const tenPercent = { enabled: true, mode: 'unique', type: 'percentage', value: 10 }

/** A connected store whose popup is on, with these settings. */
export async function popupShop(
  app: TestApp,
  settings: Record<string, unknown> = {},
  options: Parameters<typeof connectedStore>[1] = {},
): Promise<PopupShop> {
  const shop = await connectedStore(app, options)
  const save = (body: Record<string, unknown>) => shop.call(saveSettings, { body })
  const saved = await save({ isEnabled: true, ...settings })
  if (saved.status !== 200) throw new Error(JSON.stringify(saved.body))
  const token = await readToken(shop)
  return {
    ...shop,
    token,
    save,
    subscribe: (fields, ip) =>
      visit(shop, 'POST', '/newsletter/subscribers', {
        body: { token, consent: true, ...fields },
        ...(ip ? { ip } : {}),
      }),
  }
}

export interface FormShop extends ConnectedShop {
  token: string
  send(values: Record<string, unknown>, fields?: Record<string, unknown>, ip?: string): Promise<Answer>
  save(settings: Record<string, unknown>): Promise<Answer>
}

/** A connected store whose contact form is on, with these settings. */
export async function formShop(
  app: TestApp,
  settings: Record<string, unknown> = {},
  options: Parameters<typeof connectedStore>[1] = {},
): Promise<FormShop> {
  const shop = await connectedStore(app, options)
  const save = (body: Record<string, unknown>) => shop.call(updateFormSettings, { body })
  const saved = await save({ isEnabled: true, ...settings })
  if (saved.status !== 200) throw new Error(JSON.stringify(saved.body))
  const token = await readToken(shop, '/contact-form')
  return {
    ...shop,
    token,
    save,
    send: (values, fields = {}, ip) =>
      visit(shop, 'POST', '/contact-form/submissions', {
        body: { token, values, ...fields },
        ...(ip ? { ip } : {}),
      }),
  }
}

/** Rows of the store's subscribers, oldest first. */
export const readSubscribers = (shop: Shop) =>
  shop.app.database.root
    .selectFrom('newsletter_subscribers')
    .selectAll()
    .where('store_id', '=', shop.id)
    .orderBy('id')
    .execute()

/** Simulates an outage of one of the store's providers, or ends it. */
export async function setMode(shop: Shop, port: string, mode: 'down' | null): Promise<void> {
  const { root } = shop.app.database
  if (mode === null) {
    await root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).where('port', '=', port).execute()
    return
  }
  await root.insertInto('sandbox_modes').values({ store_id: shop.id, port, mode }).execute()
}
