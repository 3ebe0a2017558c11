/** What a member decides on a request, each in the caller's transaction. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { amountText } from '#runtime/values/money'
import { amountOf } from './amounts.ts'
import { approve } from './approve.ts'
import { byTheMember, note } from './history.ts'
import { amountLine, decidedUnits, itemsOf, saveUnits } from './items.ts'
import { lockRequest, move, type RequestRow, refuseMove } from './moves.ts'
import { changedAddress } from './return-address.ts'
import type { Approval, addressBody, Confirmation, Rejection } from './schema.ts'
import { tell } from './tell.ts'

/** Refuses as `approve`, and (404) an id that is no request's of this store. */
export async function approveRequest(ctx: Context, id: string, approval: Approval): Promise<void> {
  const request = await lockRequest(ctx, id)
  await approve(ctx, request, await byTheMember(ctx), approval)
}

/** Refuses (404, 409) what is unknown or past rejecting. The shopper reads the reason. */
export async function rejectRequest(ctx: Context, id: string, { reason, code }: Rejection): Promise<void> {
  const request = await lockRequest(ctx, id)
  await move(ctx, request, 'reject', {
    actor: await byTheMember(ctx),
    note: reason,
    values: { rejection_code: code, rejection_reason: reason },
  })
}

/**
 * Records that items have come, or that all is done. Refuses (404, 409) what is unknown or in another state, (400)
 * units beyond those approved, nothing received, and fields of the other type.
 */
export async function confirmRequest(ctx: Context, id: string, confirmation: Confirmation): Promise<void> {
  const request = await lockRequest(ctx, id)
  const { stage, refundMethod, exchangeOrderId } = confirmation
  const name = stage === 'received' ? 'receive' : 'complete'
  refuseMove(request, name)
  refuseOtherType(request, confirmation)
  const items = await itemsOf(ctx, id)
  const approved = (item: (typeof items)[number]): number => item.approved_quantity ?? item.quantity
  const units = decidedUnits(
    items,
    (confirmation.items ?? []).map(({ id: itemId, receivedQuantity }) => ({
      id: itemId,
      units: receivedQuantity,
    })),
    {
      field: 'receivedQuantity',
      atMost: approved,
      otherwise: (item) => item.received_quantity ?? approved(item),
    },
  )
  if ([...units.values()].every((each) => each === 0)) {
    throw refuse('bad_request', 'items: nothing was received: reject the request instead')
  }
  await saveUnits(ctx, 'received_quantity', units)
  const received = amountOf(
    items.map((item) => amountLine(item, units.get(item.id)!)),
    request.amount,
  )
  await move(ctx, request, name, {
    actor: await byTheMember(ctx),
    note: confirmation.note ?? null,
    values: {
      ...refundOf(request, confirmation, received),
      ...(refundMethod === undefined ? {} : { refund_method: refundMethod }),
      ...(exchangeOrderId === undefined ? {} : { exchange_order_id: exchangeOrderId }),
    },
  })
}

function refuseOtherType(
  request: RequestRow,
  { refundMethod, refundAmount, exchangeOrderId }: Confirmation,
): void {
  if (request.type === 'return') {
    if (exchangeOrderId === undefined) return
    throw refuse('bad_request', 'exchangeOrderId: is of exchanges only, and this is a return')
  }
  const field =
    refundMethod !== undefined ? 'refundMethod' : refundAmount !== undefined ? 'refundAmount' : null
  if (field) throw refuse('bad_request', `${field}: is of returns only, and this is an exchange`)
}

/** What was told last; once all is done and nothing was told, the value of what was received. */
function refundOf(
  request: RequestRow,
  { stage, refundAmount }: Confirmation,
  received: string,
): { refund_amount?: string } {
  if (request.type !== 'return') return {}
  if (refundAmount !== undefined) {
    if (refundAmount > Number(request.amount)) {
      throw refuse('bad_request', `refundAmount: must be at most ${request.amount}, the amount`)
    }
    return { refund_amount: amountText(refundAmount) }
  }
  return stage === 'completed' && request.refund_amount === null ? { refund_amount: received } : {}
}

/**
 * Changes where the items are to be sent; the shopper is told while they may be on their way to leave. What is the same
 * already changes nothing. Refuses (404, 409) what is unknown or past it, (400) what lacks a required line.
 */
export async function changeAddress(
  ctx: Context,
  id: string,
  { returnAddress: given }: z.infer<typeof addressBody>,
): Promise<void> {
  const request = await lockRequest(ctx, id)
  if (request.status !== 'requested' && request.status !== 'approved') {
    throw refuse(
      'conflict',
      `Only a request that is requested or approved gets another address: this one is ${request.status}`,
    )
  }
  const before = request.return_address
  if (given === null) {
    // As it was read.
    if (before === null) return
    throw refuse('bad_request', 'returnAddress: must be given')
  }
  const after = changedAddress(ctx, before, given)
  if (isDeepStrictEqual(before, after)) return
  const now = ctx.now()
  const changed = await ctx.db
    .updateTable('exchange_requests')
    .set({ return_address: JSON.stringify(after), updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await note(ctx, id, { event: 'address-changed', actor: await byTheMember(ctx) })
  if (request.status === 'approved') await tell(ctx, changed, 'addressChanged')
}
