/** Stores with stock subscriptions: a sold-out product, its subscribers, and sent alerts. */

import type { ConnectionType } from '#operations/messaging/provider/port'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import saveSettings from '#operations/stock/settings/api/save-settings'
import getSubscription from '#operations/stock/subscriptions/api/get-subscription'
import listSubscriptions from '#operations/stock/subscriptions/api/list-subscriptions'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { post } from './numbers.ts'
import { type ConnectedShop, connectedStore } from './platform.ts'
import type { Answer } from './store.ts'
import { type Visited, visit } from './storefront.ts'

export interface StockShop extends ConnectedShop {
  save(body?: object): Promise<Answer>
  /** A shopper subscribes to variant `3001` of product `2000`, which is sold out at first. */
  ask(contact: object, ip?: string): Promise<Visited>
  /** The platform updates a variant's stock; its webhook arrives, and the queued jobs run. */
  restock(stock: number | null, variantId?: string): Promise<void>
  /** Only the webhook. */
  webhook(variantId?: string): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  all(query?: Record<string, string>): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  one(id: string): Promise<any>
  /** Sent messages by contact: their keys, and how often they were passed to the provider. */
  listSent(): Promise<{ to: string; key: string; calls: number; text: string; at: Date }[]>
  usage(): Promise<{ used: number; reserved: number }>
}

let visits = 0

export async function stockShop(
  app: TestApp,
  options: Parameters<typeof connectedStore>[1] & {
    connection?: ConnectionType | null
    settings?: object
  } = {},
): Promise<StockShop> {
  const { connection = 'qr', settings = {}, ...others } = options
  const shop = await connectedStore(app, others)
  await putProducts(shop.platform, [
    {
      id: '2000',
      name: 'Luminária <b>Lua</b>',
      url: 'https://shop.example/products/luminaria-lua?ref=a',
      variants: [
        { id: '3001', name: 'Branca', sku: 'LUM-B', price: 149.9, stock: 0 },
        { id: '3002', name: 'Preta', sku: 'LUM-P', price: 149.9, stock: 7 },
      ],
    },
  ])
  const ctx = await shop.context()
  if (connection) await connectNumber(ctx, { type: connection, phone: '+5511400010001' })
  await ctx.queue(productSnapshotsRefresh, {})
  await app.drainJobs()
  const save: StockShop['save'] = (body = { isEnabled: true }) => shop.call(saveSettings, { body })
  const saved = await save({ isEnabled: true, ...settings })
  if (saved.status !== 200) throw new Error(`not saved: ${JSON.stringify(saved.body)}`)
  await app.drainJobs()
  const stock = (variantId: string, units: number | null) =>
    post(app, `/sandbox/api/ecommerce/${shop.id}/variants/${variantId}/stock`, { stock: units })
  return {
    ...shop,
    save,
    ask: (contact, ip) => {
      visits += 1
      return visit(shop, '/stock-notifications', {
        body: { variantId: '3001', source: 'product-page', ...contact },
        ip: ip ?? `10.${visits >> 16}.${(visits >> 8) & 255}.${visits & 255}`,
      })
    },
    async restock(units, variantId = '3001') {
      const answer = await stock(variantId, units)
      if (answer.status !== 200) throw new Error(`no stock: ${JSON.stringify(answer.body)}`)
      await app.drainJobs()
    },
    async webhook(variantId = '3001') {
      const [product] = await app.services.adapters.ecommerce.sandbox!.getProducts(
        { id: shop.id, credentials: null },
        { ids: ['2000'] },
      )
      await stock(variantId, product!.variants.find((each) => each.id === variantId)!.stock)
    },
    all: async (query = {}) =>
      (
        await shop.call(listSubscriptions, {
          query: { status: 'all', sort: 'oldest', limit: '100', ...query },
        })
      ).body.data,
    one: async (id) => (await shop.call(getSubscription, { params: { notificationId: id } })).body,
    async listSent() {
      const messages = await getSandbox(app.services.adapters.messaging).outbox(shop.id)
      const rows = await ctx.db.selectFrom('stock_subscriptions').select('id').execute()
      const ids = new Set(rows.map((row) => row.id))
      const mails = await listSandboxMail(app.database.root as never, { limit: 100_000 })
      const ours = mails.filter((mail) => ids.has(mail.idempotencyKey.split('_')[1] ?? ''))
      return [
        ...messages.map((each) => ({
          to: each.phone,
          key: each.idempotencyKey,
          calls: each.calls,
          text: String(each.content.text ?? JSON.stringify(each.content)),
          at: each.sentAt,
        })),
        ...ours.map((mail) => ({
          to: mail.to,
          key: mail.idempotencyKey,
          calls: mail.calls,
          text: mail.text,
          at: mail.sentAt,
        })),
      ]
    },
    usage: () =>
      app.database.root
        .selectFrom('usage_cycles')
        .select(['used', 'reserved'])
        .where('store_id', '=', shop.id)
        .executeTakeFirstOrThrow(),
  }
}

export const makePhone = (n: number): string => `+55119${String(20_000_000 + n * 10 + 5).padStart(8, '0')}`
export const makeEmail = (n: number): string => `shopper-${n}@example.com`
