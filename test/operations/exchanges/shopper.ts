/** A store with exchanges enabled, and a shopper on its storefront. */
import saveSettings from '#operations/exchanges/settings/api/save-settings'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { OrderInput } from '#operations/store/ecommerce/sandbox-orders'
import { listSandboxMail, type SandboxMail } from '#runtime/ports/mail/sandbox'
import type { TestApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import type { store } from '#test/support/store'
import { type Visited, visit } from '#test/support/storefront'

export const returnAddress = {
  recipient: 'Loja Aurora, trocas',
  street: 'Rua das Flores',
  number: '100',
  city: 'São Paulo',
  state: 'SP',
  postalCode: '01000-000',
  country: 'BR',
}

export const ana = { name: 'Ana Souza', email: 'ana@example.com', phone: '+5511988887777' }

export interface Asking {
  sessionToken?: string
  type?: 'exchange' | 'return'
  items?: Record<string, unknown>[]
  [field: string]: unknown
}

export interface ExchangeShop extends ConnectedShop {
  settings(change: Record<string, unknown>): Promise<void>
  /** Creates a paid order, delivered now. */
  delivered(input?: Partial<OrderInput>): Promise<PlatformOrder>
  lookup(order: { number: string }, contact?: string, ip?: string): Promise<Visited>
  /** Looks up an order and answers the session token. */
  session(order: { number: string }): Promise<string>
  /** Submits a request, by default for one unit of the first line. */
  ask(order: PlatformOrder, asking?: Asking): Promise<Visited>
  /** The page behind a `statusUrl`. */
  follow(statusUrl: string, then?: string, body?: unknown): Promise<Visited>
  mails(to: string): Promise<SandboxMail[]>
  notices(type: string): Promise<{ data: unknown; message: string | null }[]>
}

let addresses = 0
/** An unused client address. */
export function someIp(): string {
  addresses += 1
  return `10.1.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}

export async function exchangeShop(
  app: TestApp,
  settings: Record<string, unknown> = {},
  options: Parameters<typeof store>[1] = {},
): Promise<ExchangeShop> {
  // Another test with a later clock may have run the periodic jobs already.
  await app.database.root.deleteFrom('job_schedules').execute()
  app.worker.clockMoved()
  const shop = await connectedStore(app, { locale: 'en-US', ...options })
  const { root } = app.database
  const made: ExchangeShop = {
    ...shop,
    async settings(change) {
      const answer = await shop.call(saveSettings, { body: change })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    },
    async delivered(input = {}) {
      const order = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 2 }], ...input })
      const at = await shop.change(order, { fulfillmentStatus: 'delivered' })
      await shop.deliver(at)
      await app.drainJobs()
      return at
    },
    lookup: (order, contact = ana.email, ip = someIp()) =>
      visit(shop, '/exchanges/lookup', { body: { orderNumber: order.number, contact }, ip }),
    async session(order) {
      const { status, body } = await made.lookup(order)
      if (status !== 200) throw new Error(`The lookup answered ${status}`)
      return body.sessionToken
    },
    async ask(order, asking = {}) {
      const sessionToken = asking.sessionToken ?? (await made.session(order))
      const items = asking.items ?? [{}]
      const type = asking.type ?? 'return'
      return visit(shop, '/exchanges/requests', {
        ip: someIp(),
        body: {
          type,
          returnMethod: 'customer-ships',
          acceptedConditions: true,
          ...asking,
          sessionToken,
          items: items.map((item) => ({
            orderItemId: order.items[0]!.id,
            quantity: 1,
            reason: 'wrong-size',
            ...(type === 'exchange' ? { exchangeForVariantId: '2002' } : {}),
            ...item,
          })),
        },
      })
    },
    follow: (statusUrl, then = '', body) => {
      const path = new URL(statusUrl).pathname.split(shop.publicId)[1]!
      return visit(shop, `${path}${then}`, body === undefined ? {} : { body })
    },
    mails: (to) => listSandboxMail(root as never, { to }),
    async notices(type) {
      return root
        .selectFrom('notifications')
        .select(['data', 'message'])
        .where('store_id', '=', shop.id)
        .where('type', '=', type)
        .orderBy('id')
        .execute()
    },
  }
  await made.settings({ isEnabled: true, returnAddress, ...settings })
  return made
}

/** The first bytes of a photo, plus padding. */
export const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
export const heic = Buffer.concat([Buffer.from('00000018', 'hex'), Buffer.from('ftypheic0000heic')])

/** Uploads a photo as a script does; answers its URL. */
export async function upload(shop: ExchangeShop, sessionToken: string, bytes: Buffer = png): Promise<string> {
  const { status, body } = await visit(shop, '/exchanges/upload-url', {
    ip: someIp(),
    body: { sessionToken, fileName: 'foto.png', contentType: 'image/png', size: bytes.length },
  })
  if (status !== 200) throw new Error(`No upload: ${JSON.stringify(body)}`)
  const put = await shop.app.fetch(
    new Request(body.uploadUrl, { method: body.method, headers: body.headers, body: new Uint8Array(bytes) }),
    { ip: '10.0.0.1' },
  )
  if (put.status !== 200) throw new Error(`Not uploaded: ${put.status}`)
  return body.fileUrl
}
