/** The demo's exchanges and returns: 28 requests with their histories and photos. Sends no email. */

import {
  computeAmount,
  computePriceDifference,
  computeUnitPrice,
} from '#operations/exchanges/requests/amounts'
import { exchangePhotos, getPhotosOwner } from '#operations/exchanges/requests/photos'
import { buildSearchText } from '#operations/exchanges/requests/search'
import type { ExchangeContent } from '#operations/exchanges/settings/schema'
import { parseCustomerAddress } from '#operations/exchanges/shopper/customer-address'
import { listChoices } from '#operations/exchanges/shopper/variants'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { sign } from '#runtime/secrets'
import { idFromName, sha256 } from '#runtime/values/ids'
import type { DemoStore } from './demo-store.ts'
import { type PlannedRequest, planRequests, type Step } from './exchange-plan.ts'
import { photo } from './media.ts'
import { orderSources } from './order-plan.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import { auroraPeople } from './store.ts'
import { wishlistOrders } from './wishlist.ts'

const firstNumber = 1001
const deadlineMs = 28 * dayMs

/** After the settings, the orders, the catalog cache and the wishlists. */
export async function seedAuroraExchanges(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const taken = wishlistOrders(shop, store)
  for (const source of orderSources) for (const { order } of shop.attributed(source)) taken.add(order)
  const paid = shop.orders.filter((order) => order.paymentStatus === 'paid' && order.currency === 'BRL')
  // Prefers orders that no other seed uses; used ones come last, in case too few recent ones are left.
  const candidates = [true, false].flatMap((isFree) => paid.filter((order) => taken.has(order) !== isFree))
  const scope = { exchangeScope: 'any-product', types: ['exchange'] } as const
  const all = await listChoices(ctx, { currency: 'BRL' }, { ...scope, types: [...scope.types] }, [])
  const variants = Map.groupBy(all, ({ productId }) => productId)
  await seedRequests(ctx, store, planRequests(candidates, variants, store.timeline))
}

async function seedRequests(ctx: Context, store: DemoStore, plan: readonly PlannedRequest[]): Promise<void> {
  const { content } = await ctx.db.selectFrom('exchange_settings').select('content').executeTakeFirstOrThrow()
  const settings = content as ExchangeContent
  const variants = await ctx.db
    .selectFrom('product_snapshot_variants')
    .select(['variant_id', 'name'])
    .execute()
  const variantNames = new Map(variants.map((row) => [row.variant_id, row.name]))
  const requests = plan.map((each, n) => requestRow(store, settings, each, n))
  const idOf = (n: number): string => requests[n]!.id
  const photos = (await Promise.all(plan.map((each, n) => storePhotos(ctx, idOf(n), each)))).flat()
  await ctx.transaction(async (tx) => {
    const insert = <T extends Parameters<typeof insertRows>[1]>(table: T, rows: SeedRow<T>[]) =>
      insertRows(tx.system, table, store.id, rows)
    await insert('exchange_numbers', [{ last: firstNumber + plan.length - 1 }])
    await insert('exchange_requests', requests)
    await insert(
      'exchange_items',
      plan.flatMap((each, n) => itemRows(idOf(n), settings, each, variantNames)),
    )
    await insert('exchange_photos', photos)
    for (const [id, ofOne] of Map.groupBy(photos, (each) => each.request_id)) {
      const uses = ofOne.map(({ url }) => ({ url, purpose: exchangePhotos, field: 'photos' }))
      await files.setUses(tx, getPhotosOwner(id), uses)
    }
    await insert(
      'exchange_history',
      plan.flatMap((each, n) => historyRows(idOf(n), each)),
    )
    const notices = plan.flatMap((each, n) => noticeRows(idOf(n), each))
    await insert('exchange_notices', notices)
    await recordSent(tx.system, store.id, notices, ({ request_id, recipient }) => ({
      channel: 'email',
      source: 'exchange',
      source_id: request_id,
      email: recipient.toLowerCase(),
    }))
    // Each email has its own link, and so does the page after the submission.
    const links = [
      ...requests.map(({ id }) => ({ key: id, request_id: id })),
      ...notices.map(({ id, request_id }) => ({ key: id, request_id })),
    ]
    const tokens = links.map(({ key, request_id }) => ({
      hash: sha256(sign(ctx.settings, 'demo-exchange-link', key)),
      request_id,
      created_at: store.timeline.ago(100),
    }))
    await insert('exchange_tokens', tokens)
  })
}

async function storePhotos(
  ctx: Context,
  request_id: string,
  { photos, steps }: PlannedRequest,
): Promise<SeedRow<'exchange_photos'>[]> {
  const content = await photo()
  const rows: SeedRow<'exchange_photos'>[] = []
  for (let position = 1; position <= photos; position += 1) {
    const id = idFromName(`exchange photo ${request_id} ${position}`, steps[0]!.at.getTime())
    const file = { fileName: 'foto.png', contentType: 'image/png', visibility: 'private' as const, content }
    const { url, key } = await files.put(ctx, exchangePhotos, { id, ...file })
    rows.push({ id, request_id, position, url, key, content_type: file.contentType, size: content.length })
  }
  return rows
}

function requestRow(
  store: DemoStore,
  settings: ExchangeContent,
  { order, type, items, steps, rejection, ...each }: PlannedRequest,
  n: number,
): SeedRow<'exchange_requests'> {
  const { customer } = order
  const number = `EX-${firstNumber + n}`
  const at = (event: string): Date | null => steps.find((step) => step.event === event)?.at ?? null
  const dates = { placedAt: new Date(order.placedAt), shippedAt: null, deliveredAt: null }
  const lines = items.map(({ item, wanted }) => ({
    lineTotal: item.total,
    ordered: item.quantity,
    units: Array.from({ length: item.quantity }, (_none, place) => place),
    exchangeUnitPrice: wanted?.unitPrice ?? null,
  }))
  const amount = computeAmount(lines, order.total, order.currency)
  const [createdAt, approvedAt, completedAt] = [steps[0]!.at, at('approved'), at('completed')]
  const isSent = at('shipped') !== null
  const isReturn = type === 'return'
  return {
    id: idFromName(`exchange ${store.id} ${order.id}`, createdAt.getTime()),
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
    customer_address: parseCustomerAddress({ ...order, ...dates }, store.country),
    reasons: [each.reason],
    photo_count: each.photos,
    comment: each.comment,
    amount,
    price_difference: isReturn ? null : computePriceDifference(lines, amount, order.currency),
    currency: order.currency,
    outside_window: each.outsideWindow,
    return_method: each.returnMethod,
    return_address: settings.returnAddress,
    carrier: isSent ? 'Correios' : null,
    tracking_code: isSent ? `TR${order.id}77BR` : null,
    refund_method: isReturn ? 'original-payment' : null,
    refund_amount: isReturn && completedAt ? amount : null,
    exchange_order_id: !isReturn && completedAt ? `${order.number}-T` : null,
    rejection_code: rejection?.code ?? null,
    rejection_reason: rejection?.reason ?? null,
    search_text: buildSearchText({
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
  { items, order, reason, steps }: PlannedRequest,
  variantNames: ReadonlyMap<string, string>,
): SeedRow<'exchange_items'>[] {
  const createdAt = steps[0]!.at
  const has = (name: string): boolean => steps.some(({ event }) => event === name)
  return items.map(({ item, wanted }, n) => ({
    id: idFromName(`exchange item ${id} ${n}`, createdAt.getTime()),
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
    approved_quantity: has('approved') ? item.quantity : null,
    received_quantity: has('received') ? item.quantity : null,
    line_total: item.total,
    line_quantity: item.quantity,
    unit_price: computeUnitPrice(item.total, item.quantity, order.currency),
    reason,
    reason_label: reasons.find(({ key }) => key === reason)!.label,
    exchange_for: wanted && {
      productId: wanted.productId,
      variantId: wanted.variantId,
      name: wanted.name,
      variantName: wanted.variantName,
      unitPrice: Number(wanted.unitPrice),
    },
    requested_at: createdAt,
  }))
}

/** An email is sent this long after its cause. */
const getSentAt = ({ at }: Step): Date => new Date(at.getTime() + 20_000)

function historyRows(id: string, { order, steps }: PlannedRequest): SeedRow<'exchange_history'>[] {
  let status: string | null = null
  return steps.flatMap((step, n) => {
    const from = status
    status = step.to ?? status
    const member = auroraPeople.find(({ key }) => key === step.by)
    const row = {
      id: idFromName(`exchange history ${id} ${n}`, step.at.getTime()),
      request_id: id,
      at: step.at,
      event: step.event,
      from_status: step.to === null ? null : from,
      to_status: step.to,
      actor_type: member ? 'member' : step.by,
      actor_name: member?.name ?? (step.by === 'customer' ? order.customer.name : null),
      note: step.note,
    }
    if (step.notifies === null) return [row]
    const label = step.notifies === 'addressChanged' ? 'address changed' : step.notifies
    const notified = {
      id: idFromName(`exchange history ${id} ${n} told`, getSentAt(step).getTime()),
      request_id: id,
      at: getSentAt(step),
      event: 'notified',
      actor_type: 'system',
      note: `Email: ${label}`,
    }
    return [row, notified]
  })
}

function noticeRows(id: string, { order, steps }: PlannedRequest): SeedRow<'exchange_notices'>[] {
  return steps.flatMap((step) => {
    if (step.notifies === null) return []
    const at = getSentAt(step)
    const noticeId = idFromName(`exchange notice ${id} ${step.notifies}`, step.at.getTime())
    return {
      id: noticeId,
      request_id: id,
      event: step.notifies,
      sequence: 1,
      channel: 'email',
      state: 'sent',
      recipient: order.customer.email!,
      tries: 1,
      called_at: at,
      next_try_at: step.at,
      provider_message_id: `<${noticeId}@sandbox.invalid>`,
      sent_at: at,
      created_at: step.at,
      updated_at: at,
    }
  })
}
