/** The demo's exchanges and returns: settings, 28 requests with their histories and photos. No email leaves. */
import { amountOf, priceDifferenceOf, unitPriceOf } from '#operations/exchanges/requests/amounts'
import { exchangePhotos, photosOwner } from '#operations/exchanges/requests/photos'
import { searchTextOf } from '#operations/exchanges/requests/search'
import { defaultSettings } from '#operations/exchanges/settings/defaults'
import type { ExchangeContent } from '#operations/exchanges/settings/schema'
import { customerAddress } from '#operations/exchanges/shopper/customer-address'
import { choices, type Variant } from '#operations/exchanges/shopper/variants'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { sign } from '#runtime/secrets'
import { namedId, sha256 } from '#runtime/values/ids'
import { historyRows, ledgerRow, noticeRows } from './exchange-history.ts'
import { type PlannedRequest, planRequests } from './exchange-plan.ts'
import { samples } from './inbox-rows.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs } from './timeline.ts'
import { wishlistOrders } from './wishlist.ts'

const saoPaulo = {
  recipient: 'Aurora Supply, trocas',
  street: 'Rua Harmonia',
  number: '451',
  complement: 'Galpão 2',
  district: 'Vila Madalena',
  city: 'São Paulo',
  state: 'SP',
  postalCode: '05435-000',
  country: 'BR',
  phone: '+551140002000',
  instructions: 'De segunda a sexta, das 9 às 17 horas',
}
const newYork = {
  recipient: 'Borealis Goods, returns',
  street: 'Bedford Avenue',
  number: '210',
  complement: null,
  district: 'Brooklyn',
  city: 'New York',
  state: 'NY',
  postalCode: '11249',
  country: 'US',
  phone: null,
  instructions: null,
}
const firstNumber = 1001
const deadlineMs = 28 * dayMs

/** Once the orders, the mirror of the catalog and the wishlists are there. */
export async function seedAuroraExchanges(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const taken = wishlistOrders(shop, store)
  const sources = ['spring', 'fair', 'winter', 'newsletter', 'cart', 'cart-coupon', 'win-back'] as const
  for (const source of [...sources, 'post-purchase', 'stock'] as const) {
    for (const { order } of shop.attributed(source)) taken.add(order)
  }
  const paid = shop.orders.filter((order) => order.paymentStatus === 'paid' && order.currency === 'BRL')
  // Of the last weeks too few may be left.
  const candidates = [
    ...paid.filter((order) => !taken.has(order)),
    ...paid.filter((order) => taken.has(order)),
  ]
  const all = await choices(
    ctx,
    { currency: 'BRL' },
    { exchangeScope: 'any-product', types: ['exchange'] },
    [],
  )
  const plan = planRequests(
    candidates,
    Map.groupBy(all, ({ productId }) => productId),
    store.timeline,
  )
  const settings: ExchangeContent = {
    ...defaultSettings,
    isEnabled: true,
    windowDays: 30,
    allowOutsideWindow: true,
    returnAddress: saoPaulo,
    returnMethods: [
      {
        method: 'customer-ships',
        label: 'Enviar pelos Correios',
        instructions: 'Embale bem e coloque o número da solicitação na caixa.',
        isEnabled: true,
      },
      { method: 'in-store', label: 'Levar à loja', instructions: 'Rua Harmonia, 451', isEnabled: true },
    ],
    texts: {
      ...defaultSettings.texts,
      pageTitle: 'Trocas e devoluções',
      intro: 'Você tem 30 dias para trocar ou devolver.',
      successMessage: 'Recebemos a sua solicitação.',
      outsideWindowMessage: 'O prazo de troca deste pedido já terminou.',
      buttonText: 'Solicitar',
    },
  }
  await seedRequests(ctx, store, settings, plan)
}

/** One return that waits. */
export async function seedBorealisExchanges(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const order = shop.orders.findLast(({ deliveredAt }) => deliveredAt !== null)!
  const at = new Date(Date.parse(order.deliveredAt!) + 2 * dayMs)
  const settings = { ...defaultSettings, isEnabled: true, returnAddress: newYork }
  await seedRequests(ctx, store, settings, [
    {
      order,
      type: 'return',
      items: order.items.slice(0, 1).map((item) => ({ item, wanted: null })),
      reason: 'changed-mind',
      comment: null,
      photos: 0,
      outsideWindow: false,
      returnMethod: 'customer-ships',
      rejection: null,
      steps: [
        {
          event: 'requested',
          at: store.timeline.notAfterNow(at),
          to: 'requested',
          by: 'customer',
          tells: 'requested',
          note: null,
        },
      ],
    },
  ])
}

const requestId = (store: DemoStore, { order, steps }: PlannedRequest): string =>
  namedId(`exchange ${store.id} ${order.id}`, steps[0]!.at.getTime())

async function seedRequests(
  ctx: Context,
  store: DemoStore,
  settings: ExchangeContent,
  plan: readonly PlannedRequest[],
): Promise<void> {
  const { timeline } = store
  const variantNames = await namesOf(ctx)
  const photos = await storePhotos(ctx, store, plan)
  await ctx.transaction(async (tx) => {
    const at = timeline.ago(100)
    await insertRows(tx.system, 'exchange_settings', store.id, [
      { content: settings, created_at: at, updated_at: at },
    ])
    await insertRows(tx.system, 'exchange_numbers', store.id, [{ last: firstNumber + plan.length - 1 }])
    const requests = plan.map((each, n) => requestRow(store, settings, each, n))
    await insertRows(tx.system, 'exchange_requests', store.id, requests)
    await insertRows(
      tx.system,
      'exchange_items',
      store.id,
      plan.flatMap((each) => itemRows(requestId(store, each), settings, each, variantNames)),
    )
    if (photos.length > 0) await insertRows(tx.system, 'exchange_photos', store.id, photos)
    for (const [id, ofOne] of Map.groupBy(photos, (photo) => photo.request_id)) {
      const uses = ofOne.map(({ url }) => ({ url, purpose: exchangePhotos, field: 'photos' }))
      await files.setUses(tx, photosOwner(id), uses)
    }
    const notices = plan.flatMap((each) => noticeRows(requestId(store, each), each))
    await insertRows(
      tx.system,
      'exchange_history',
      store.id,
      plan.flatMap((each) => historyRows(requestId(store, each), each)),
    )
    await insertRows(tx.system, 'exchange_notices', store.id, notices)
    await insertRows(tx.system, 'message_ledger', store.id, notices.map(ledgerRow))
    // Each email had its link, and so had the page after sending.
    const links = [
      ...requests.map(({ id }) => ({ key: id, id })),
      ...notices.map((row) => ({ key: row.id, id: row.request_id })),
    ]
    await insertRows(
      tx.system,
      'exchange_tokens',
      store.id,
      links.map(({ key, id }) => ({
        hash: sha256(sign(ctx.settings, 'demo-exchange-link', key)),
        request_id: id,
        created_at: at,
      })),
    )
  })
}

async function namesOf(ctx: Context): Promise<ReadonlyMap<string, string>> {
  const rows = await ctx.db.selectFrom('product_snapshot_variants').select(['variant_id', 'name']).execute()
  return new Map(rows.map((row) => [row.variant_id, row.name]))
}

async function storePhotos(
  ctx: Context,
  store: DemoStore,
  plan: readonly PlannedRequest[],
): Promise<SeedRow<'exchange_photos'>[]> {
  const { fileName, contentType, bytes } = samples.image
  const rows: SeedRow<'exchange_photos'>[] = []
  for (const each of plan) {
    const request = requestId(store, each)
    for (let position = 1; position <= each.photos; position += 1) {
      const id = namedId(`exchange photo ${request} ${position}`, each.steps[0]!.at.getTime())
      const file = { id, fileName, contentType, visibility: 'private' as const, content: bytes }
      const { url, key } = await files.put(ctx, exchangePhotos, file)
      rows.push({
        id,
        request_id: request,
        position,
        url,
        key,
        content_type: contentType,
        size: bytes.length,
      })
    }
  }
  return rows
}

const addressOf = ({ order }: PlannedRequest, store: DemoStore) =>
  customerAddress(
    {
      ...order,
      placedAt: new Date(order.placedAt),
      shippedAt: null,
      deliveredAt: null,
    },
    store.country,
  )

function requestRow(
  store: DemoStore,
  settings: ExchangeContent,
  each: PlannedRequest,
  n: number,
): SeedRow<'exchange_requests'> {
  const { order, type, items, steps, rejection } = each
  const { customer } = order
  const number = `EX-${firstNumber + n}`
  const at = (event: string): Date | null => steps.find((step) => step.event === event)?.at ?? null
  const lines = items.map(({ item, wanted }) => ({
    lineTotal: item.total,
    ordered: item.quantity,
    units: Array.from({ length: item.quantity }, (_none, place) => place),
    exchangeUnitPrice: wanted?.unitPrice ?? null,
  }))
  const amount = amountOf(lines, order.total)
  const [createdAt, approvedAt, completedAt] = [steps[0]!.at, at('approved'), at('completed')]
  const isSent = at('shipped') !== null
  return {
    id: requestId(store, each),
    number,
    type,
    status: steps.findLast(({ to }) => to !== null)!.to!,
    order_id: order.id,
    order_number: order.number,
    order_placed_at: new Date(order.placedAt),
    order_delivered_at: order.deliveredAt === null ? null : new Date(order.deliveredAt),
    customer_id: customer.id,
    customer_name: customer.name,
    customer_email: customer.email,
    customer_phone: customer.phone,
    customer_address: addressOf(each, store),
    reasons: [each.reason],
    photo_count: each.photos,
    comment: each.comment,
    amount,
    price_difference: type === 'return' ? null : priceDifferenceOf(lines, amount),
    currency: order.currency,
    outside_window: each.outsideWindow,
    return_method: each.returnMethod,
    return_address: settings.returnAddress,
    return_code: null,
    label_url: null,
    carrier: isSent ? 'Correios' : null,
    tracking_code: isSent ? `TR${order.id}77BR` : null,
    refund_method: type === 'return' ? 'original-payment' : null,
    refund_amount: type === 'return' && completedAt ? amount : null,
    exchange_order_id: type === 'exchange' && completedAt ? `${order.number}-T` : null,
    rejection_code: rejection?.code ?? null,
    rejection_reason: rejection?.reason ?? null,
    search_text: searchTextOf({
      number,
      orderNumber: order.number,
      customerName: customer.name,
      customerEmail: customer.email,
      customerPhone: customer.phone,
      items: items.map(({ item }) => item),
    }),
    expires_at: approvedAt && new Date(approvedAt.getTime() + deadlineMs),
    approved_at: approvedAt,
    rejected_at: at('rejected'),
    in_transit_at: at('shipped'),
    received_at: at('received'),
    completed_at: completedAt,
    cancelled_at: at('cancelled'),
    expired_at: at('expired'),
    created_at: createdAt,
    updated_at: steps.at(-1)!.at,
  }
}

function itemRows(
  id: string,
  { reasons }: ExchangeContent,
  { items, reason, steps }: PlannedRequest,
  variantNames: ReadonlyMap<string, string>,
): SeedRow<'exchange_items'>[] {
  const createdAt = steps[0]!.at
  const isApproved = steps.some(({ event }) => event === 'approved')
  const hasArrived = steps.some(({ event }) => event === 'received')
  return items.map(({ item, wanted }, n) => ({
    id: namedId(`exchange item ${id} ${n}`, createdAt.getTime()),
    request_id: id,
    position: n + 1,
    order_item_id: item.id,
    product_id: item.productId,
    variant_id: item.variantId,
    sku: item.sku,
    name: item.name,
    variant_name: variantNames.get(item.variantId ?? '') ?? null,
    image_url: item.imageUrl,
    quantity: item.quantity,
    approved_quantity: isApproved ? item.quantity : null,
    received_quantity: hasArrived ? item.quantity : null,
    line_total: item.total,
    line_quantity: item.quantity,
    unit_price: unitPriceOf(item.total, item.quantity),
    reason,
    reason_label: reasons.find(({ key }) => key === reason)!.label,
    comment: null,
    exchange_for: wanted && wantedOf(wanted),
    requested_at: createdAt,
  }))
}

const wantedOf = ({ productId, variantId, name, variantName, unitPrice }: Variant) => ({
  productId,
  variantId,
  name,
  variantName,
  unitPrice: Number(unitPrice),
})
