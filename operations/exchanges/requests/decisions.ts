/** Decisions of a member on a request, each in the caller's transaction. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { findAmountIssue, inCurrency } from '#runtime/values/money'
import { computeAmount } from './amounts.ts'
import { approve } from './approve.ts'
import { addHistoryEntry, readMemberActor } from './history.ts'
import { listItems, resolveUnits, saveUnits, toAmountLine } from './items.ts'
import { queueNotices } from './notice-queue.ts'
import { mergeAddress } from './return-address.ts'
import type { Approval, addressBody, Confirmation, Rejection } from './schema.ts'
import { applyTransition, lockRequest, type RequestRow, requireTransition } from './transitions.ts'

/** Refuses an unknown id (404), and everything that `approve` refuses. */
export async function approveRequest(ctx: Context, id: string, approval: Approval): Promise<void> {
  const request = await lockRequest(ctx, id)
  await approve(ctx, request, await readMemberActor(ctx), approval)
}

/**
 * Rejects a request; the shopper sees the reason. Refuses an unknown id (404) and a status without this transition
 * (409).
 */
export async function rejectRequest(ctx: Context, id: string, { reason, code }: Rejection): Promise<void> {
  const request = await lockRequest(ctx, id)
  await applyTransition(ctx, request, 'reject', {
    actor: await readMemberActor(ctx),
    note: reason,
    values: { rejection_code: code, rejection_reason: reason },
  })
}

/**
 * Records that items arrived, or that the request is complete. Refuses an unknown request (404) and a status without this
 * transition (409). Refuses (400) more units than approved, a receipt without units, and fields of the other request type.
 */
export async function confirmRequest(ctx: Context, id: string, confirmation: Confirmation): Promise<void> {
  const request = await lockRequest(ctx, id)
  const { stage, refundMethod, exchangeOrderId } = confirmation
  const name = stage === 'received' ? 'receive' : 'complete'
  requireTransition(request, name)
  refuseOtherType(request, confirmation)
  const items = await listItems(ctx, id)
  const approved = (item: (typeof items)[number]): number => item.approved_quantity ?? item.quantity
  const units = resolveUnits(
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
  const received = computeAmount(
    items.map((item) => toAmountLine(item, units.get(item.id)!)),
    request.amount,
    request.currency,
  )
  await applyTransition(ctx, request, name, {
    actor: await readMemberActor(ctx),
    note: confirmation.note ?? null,
    values: {
      ...resolveRefund(request, confirmation, received),
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

/**
 * Returns the given refund. If the request is completed without a given refund, returns the value of the received
 * units.
 */
function resolveRefund(
  request: RequestRow,
  { stage, refundAmount }: Confirmation,
  received: string,
): { refund_amount?: string } {
  if (request.type !== 'return') return {}
  if (refundAmount !== undefined) {
    if (refundAmount > Number(request.amount)) {
      throw refuse('bad_request', `refundAmount: must be at most ${request.amount}, the amount`)
    }
    const issue = findAmountIssue(refundAmount, request.currency)
    if (issue) throw refuse('bad_request', `refundAmount: ${issue}`)
    return { refund_amount: inCurrency(request.currency).formatAmount(refundAmount) }
  }
  return stage === 'completed' && request.refund_amount === null ? { refund_amount: received } : {}
}

/**
 * Changes the return address and, if the request is approved, notifies the shopper. An equal address changes nothing.
 * Refuses an unknown request (404), a request whose items were sent (409) and an address without a required line (400).
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
    // A client may send the whole request back unchanged, with its `null` address.
    if (before === null) return
    throw refuse('bad_request', 'returnAddress: must be given')
  }
  const after = mergeAddress(ctx, before, given)
  if (isDeepStrictEqual(before, after)) return
  const now = ctx.now()
  const changed = await ctx.db
    .updateTable('exchange_requests')
    .set({ return_address: JSON.stringify(after), updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await addHistoryEntry(ctx, id, { event: 'address-changed', actor: await readMemberActor(ctx) })
  if (request.status === 'approved') await queueNotices(ctx, changed, 'addressChanged')
}
