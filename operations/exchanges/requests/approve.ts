/** Approves a request in full or in part, by a member or automatically by the settings. */

import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import type { ExchangeContent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'
import { computePriceDifference, computeRefundable } from './amounts.ts'
import { addHistoryEntry, type HistoryActor, systemActor, toShopperActor } from './history.ts'
import { type ItemRow, listItems, resolveUnits, saveUnits, toRefundLine } from './items.ts'
import { queueNotices } from './notice-queue.ts'
import { noteRefunds } from './order-warning.ts'
import { getLabelOwner } from './photos.ts'
import type { ReadOrder } from './read-order.ts'
import { isShipping, mergeAddress } from './return-address.ts'
import type { Approval } from './schema.ts'
import { applyTransition, notifyRequested, type RequestRow, requireTransition } from './transitions.ts'
import { lockOrder, readReservations } from './units.ts'

/**
 * Approves a request whose row the caller has locked, and notifies the shopper. Promises no more than `order`, as it is
 * now, has left. Refuses (409) a request that is not `requested`, a shipping method without a return address and an order
 * that has nothing left. Refuses (400) items of another request and an approval without units.
 */
export async function approve(
  ctx: Context,
  request: RequestRow,
  actor: HistoryActor,
  approval: Approval,
  order: ReadOrder | null,
): Promise<RequestRow> {
  requireTransition(request, 'approve')
  const settings = await exchangeRules.getEffective(ctx)
  const { returnMethod = request.return_method, refundMethod } = approval
  if (refundMethod !== undefined && request.type === 'exchange') {
    throw refuse('bad_request', 'refundMethod: is of returns only, and this is an exchange')
  }
  if (approval.returnMethod !== undefined) requireMethod(settings, approval.returnMethod)
  const returnAddress =
    approval.returnAddress === undefined
      ? request.return_address
      : mergeAddress(ctx, request.return_address, approval.returnAddress)
  if (isShipping(returnMethod) && returnAddress === null) {
    throw refuse('conflict', `The method ${returnMethod} needs a return address: give one with the approval`)
  }
  const items = await listItems(ctx, request.id)
  const units = resolveUnits(
    items,
    (approval.items ?? []).map(({ id, approvedQuantity }) => ({ id, units: approvedQuantity })),
    { field: 'approvedQuantity', atMost: (item) => item.quantity, otherwise: (item) => item.quantity },
  )
  if ([...units.values()].every((each) => each === 0)) {
    throw refuse('bad_request', 'items: nothing is left approved: reject the request instead')
  }
  await saveUnits(ctx, 'approved_quantity', units)
  const lines = items.map((item) => toRefundLine(item, units.get(item.id)!))
  await lockOrder(ctx, request.order_id)
  const reserved = await readReservations(
    ctx,
    { id: request.order_id, currency: request.currency },
    request.id,
  )
  const { amount, reason, isPaid } = computeRefundable(order, reserved, lines, request.currency)
  if (!order || !isPaid || (reason !== null && Number(amount) === 0)) {
    throw refuse('conflict', `${reason ?? 'The order is not paid'}: reject the request instead`)
  }
  await noteRefunds(ctx, request, order)
  await saveLineRefunds(ctx, items, order)
  if (approval.labelUrl !== undefined)
    await files.trackLinkedFiles(ctx, getLabelOwner(request.id), approval.labelUrl)
  const { shippingDeadlineDays } = settings
  return applyTransition(ctx, request, 'approve', {
    actor,
    note: approval.note ?? null,
    values: {
      amount,
      amount_reason: reason,
      order_refunded: order.refundedTotal,
      price_difference:
        request.type === 'exchange' ? computePriceDifference(lines, amount, request.currency) : null,
      return_method: returnMethod,
      return_address: returnAddress === null ? null : JSON.stringify(returnAddress),
      expires_at:
        shippingDeadlineDays === null ? null : new Date(ctx.clock.ms() + shippingDeadlineDays * dayMs),
      ...(approval.returnCode === undefined ? {} : { return_code: approval.returnCode }),
      ...(approval.labelUrl === undefined ? {} : { label_url: approval.labelUrl }),
      ...(approval.carrier === undefined ? {} : { carrier: approval.carrier }),
      ...(refundMethod === undefined ? {} : { refund_method: refundMethod }),
    },
  })
}

/** Saves how many units of each item's line are refunded now: these refunds are not for this request. */
export async function saveLineRefunds(
  ctx: Context,
  items: readonly ItemRow[],
  order: Pick<ReadOrder, 'items'>,
): Promise<void> {
  const refunded = new Map(order.items.map((line) => [line.id, line.refundedQuantity]))
  const units = items.map(({ id, order_item_id: lineId, line_refunded: before }) => {
    return [id, refunded.get(lineId) ?? before] as const
  })
  await saveUnits(ctx, 'line_refunded', new Map(units))
}

function requireMethod({ returnMethods }: ExchangeContent, method: string): void {
  if (returnMethods.some((each) => each.isEnabled && each.method === method)) return
  throw refuse('bad_request', `returnMethod: ${method} is not enabled in the settings`)
}

/**
 * Handles a request that was just inserted, in the same transaction: adds the history entry, notifies merchant and shopper,
 * and approves the request if the settings allow automatic approval. Returns the resulting request.
 */
export async function handleSubmitted(
  ctx: Context,
  request: RequestRow,
  settings: ExchangeContent,
  order: ReadOrder,
): Promise<RequestRow> {
  await addHistoryEntry(ctx, request.id, {
    event: 'requested',
    actor: toShopperActor(request),
    toStatus: 'requested',
  })
  await notifyRequested(ctx, request)
  await queueNotices(ctx, request, 'requested')
  const hasNowhereToGo = isShipping(request.return_method) && request.return_address === null
  if (!settings.autoApprove || request.outside_window || hasNowhereToGo) return request
  return approve(ctx, request, systemActor, {}, order)
}
