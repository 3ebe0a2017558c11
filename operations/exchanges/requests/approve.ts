/** A request approved, whole or in part, by a member or by the settings. */

import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import type { ExchangeContent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'
import { amountOf, priceDifferenceOf } from './amounts.ts'
import { byTheShopper, byTheSystem, type HistoryActor, note } from './history.ts'
import { amountLine, decidedUnits, itemsOf, saveUnits } from './items.ts'
import { labelOwner } from './label.ts'
import { announceRequested, move, type RequestRow, refuseMove } from './moves.ts'
import { changedAddress, isShipping } from './return-address.ts'
import type { Approval } from './schema.ts'
import { tell } from './tell.ts'

/**
 * Approves a request whose row the caller holds; the shopper is told. Refuses (409) one that is not `requested`, and a
 * method that ships without an address; (400) what is not the request's, and nothing left approved.
 */
export async function approve(
  ctx: Context,
  request: RequestRow,
  actor: HistoryActor,
  approval: Approval,
): Promise<RequestRow> {
  refuseMove(request, 'approve')
  const settings = await exchangeRules.inForce(ctx)
  const { returnMethod = request.return_method, refundMethod } = approval
  if (refundMethod !== undefined && request.type === 'exchange') {
    throw refuse('bad_request', 'refundMethod: is of returns only, and this is an exchange')
  }
  if (approval.returnMethod !== undefined) refuseMethod(settings, approval.returnMethod)
  const returnAddress =
    approval.returnAddress === undefined
      ? request.return_address
      : changedAddress(ctx, request.return_address, approval.returnAddress)
  if (isShipping(returnMethod) && returnAddress === null) {
    throw refuse('conflict', `The method ${returnMethod} needs a return address: give one with the approval`)
  }
  const items = await itemsOf(ctx, request.id)
  const units = decidedUnits(
    items,
    (approval.items ?? []).map(({ id, approvedQuantity }) => ({ id, units: approvedQuantity })),
    { field: 'approvedQuantity', atMost: (item) => item.quantity, otherwise: (item) => item.quantity },
  )
  if ([...units.values()].every((each) => each === 0)) {
    throw refuse('bad_request', 'items: nothing is left approved: reject the request instead')
  }
  await saveUnits(ctx, 'approved_quantity', units)
  const lines = items.map((item) => amountLine(item, units.get(item.id)!))
  const amount = amountOf(lines, request.amount)
  if (approval.labelUrl !== undefined) await files.keepLinked(ctx, labelOwner(request.id), approval.labelUrl)
  const { shippingDeadlineDays } = settings
  return move(ctx, request, 'approve', {
    actor,
    note: approval.note ?? null,
    values: {
      amount,
      price_difference: request.type === 'exchange' ? priceDifferenceOf(lines, amount) : null,
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

function refuseMethod({ returnMethods }: ExchangeContent, method: string): void {
  if (returnMethods.some((each) => each.isEnabled && each.method === method)) return
  throw refuse('bad_request', `returnMethod: ${method} is not enabled in the settings`)
}

/**
 * What follows when a shopper has submitted a request, whose row and items the caller has just written in the same
 * transaction: history, merchant and shopper, and the approval where it needs nobody. Answers the request as it is then.
 */
export async function submitted(
  ctx: Context,
  request: RequestRow,
  settings: ExchangeContent,
): Promise<RequestRow> {
  await note(ctx, request.id, { event: 'requested', actor: byTheShopper(request), toStatus: 'requested' })
  await announceRequested(ctx, request)
  await tell(ctx, request, 'requested')
  const hasNowhereToGo = isShipping(request.return_method) && request.return_address === null
  if (!settings.autoApprove || request.outside_window || hasNowhereToGo) return request
  return approve(ctx, request, byTheSystem, {})
}
