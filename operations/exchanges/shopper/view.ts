/** The shopper's view of a request. It contains no data of other people and no names of members. */
import type { Row } from '#db/tables'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import { getText } from '#runtime/values/wording'
import { localizeReason } from '../settings/defaults.ts'
import type { address, ExchangeContent } from '../settings/schema.ts'
import { findRequestByToken } from './status-links.ts'

/** The merchant's text names other refunds and requests of the order, so the shopper gets a general one. */
const lessWords = {
  en: 'Part of the order was refunded already, or is in another request.',
  'pt-BR': 'Parte do pedido já foi reembolsada ou está em outra solicitação.',
  es: 'Parte del pedido ya se reembolsó o está en otra solicitud.',
}

type Address = z.infer<typeof address>

export interface ShopperView {
  number: string
  type: string
  status: string
  orderNumber: string
  items: ShopperItem[]
  comment: string | null
  photoCount: number
  amount: number
  /** Why the amount is less than the items cost; null when it is not. */
  amountReason: string | null
  priceDifference: number | null
  currency: string
  outsideWindow: boolean
  returnMethod: string
  returnMethodLabel: string | null
  returnInstructions: string | null
  returnAddress: Address | null
  returnCode: string | null
  labelUrl: string | null
  carrier: string | null
  trackingCode: string | null
  refundMethod: string | null
  refundAmount: number | null
  rejectionReason: string | null
  expiresAt: string | null
  createdAt: string
  approvedAt: string | null
  rejectedAt: string | null
  inTransitAt: string | null
  receivedAt: string | null
  completedAt: string | null
  cancelledAt: string | null
  expiredAt: string | null
  /** Whether a tracking code can be entered now. */
  canShip: boolean
  canCancel: boolean
  texts: Pick<ExchangeContent['texts'], 'pageTitle' | 'successMessage' | 'policy'>
}

export interface ShopperItem {
  name: string
  variantName: string | null
  imageUrl: string | null
  quantity: number
  approvedQuantity: number | null
  receivedQuantity: number | null
  unitPrice: number
  reason: string
  reasonLabel: string
  comment: string | null
  exchangeFor: { name: string; variantName: string | null; unitPrice: number } | null
}

/** Finds the request of a status link's token, as the shopper sees it; null if there is none. */
export async function findView(
  ctx: Context,
  settings: ExchangeContent,
  token: string,
): Promise<ShopperView | null> {
  const requestId = await findRequestByToken(ctx, token)
  if (requestId === null) return null
  const request = await ctx.db
    .selectFrom('exchange_requests')
    .selectAll()
    .where('id', '=', requestId)
    .executeTakeFirst()
  if (!request) return null
  const items = await ctx.db
    .selectFrom('exchange_items')
    .selectAll()
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute()
  const view = toView(ctx, settings, request, items)
  return { ...view, labelUrl: await files.signLinks(ctx, view.labelUrl) }
}

function toView(
  { store }: Context,
  { texts, returnMethods }: ExchangeContent,
  row: Row<'exchange_requests'>,
  items: readonly Row<'exchange_items'>[],
): ShopperView {
  const method = returnMethods.find((each) => each.method === row.return_method)
  return {
    number: row.number,
    type: row.type,
    status: row.status,
    orderNumber: row.order_number,
    items: items.map((item) => toItem(item, store.locale)),
    comment: row.comment,
    photoCount: row.photo_count,
    amount: Number(row.amount),
    amountReason: row.amount_reason && getText(lessWords, store.locale),
    priceDifference: toNumber(row.price_difference),
    currency: row.currency,
    outsideWindow: row.outside_window,
    returnMethod: row.return_method,
    returnMethodLabel: method?.label ?? null,
    returnInstructions: method?.instructions ?? null,
    returnAddress: row.return_address as Address | null,
    returnCode: row.return_code,
    labelUrl: row.label_url,
    carrier: row.carrier,
    trackingCode: row.tracking_code,
    refundMethod: row.refund_method,
    refundAmount: toNumber(row.refund_amount),
    rejectionReason: row.rejection_reason,
    expiresAt: row.status === 'approved' ? toIso(row.expires_at) : null,
    createdAt: row.created_at.toISOString(),
    approvedAt: toIso(row.approved_at),
    rejectedAt: toIso(row.rejected_at),
    inTransitAt: toIso(row.in_transit_at),
    receivedAt: toIso(row.received_at),
    completedAt: toIso(row.completed_at),
    cancelledAt: toIso(row.cancelled_at),
    expiredAt: toIso(row.expired_at),
    canShip: row.status === 'approved' || row.status === 'in-transit',
    canCancel: row.status === 'requested' || row.status === 'approved',
    texts: { pageTitle: texts.pageTitle, successMessage: texts.successMessage, policy: texts.policy },
  }
}

const toNumber = (amount: string | null): number | null => (amount === null ? null : Number(amount))
const toIso = (at: Date | null): string | null => at?.toISOString() ?? null

function toItem(row: Row<'exchange_items'>, locale: string): ShopperItem {
  const replacement = row.exchange_for as {
    name: string
    variantName: string | null
    unitPrice: number
  } | null
  return {
    name: row.name,
    variantName: row.variant_name,
    imageUrl: row.image_url,
    quantity: row.quantity,
    approvedQuantity: row.approved_quantity,
    receivedQuantity: row.received_quantity,
    unitPrice: Number(row.unit_price),
    reason: row.reason,
    reasonLabel: localizeReason(row.reason, row.reason_label, locale),
    comment: row.comment,
    exchangeFor: replacement && {
      name: replacement.name,
      variantName: replacement.variantName,
      unitPrice: replacement.unitPrice,
    },
  }
}
