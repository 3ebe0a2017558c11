/** Decisions of a member on a request. */
import { isDeepStrictEqual } from 'node:util'
import { amounts } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { findAmountIssue, inCurrency } from '#runtime/values/money'
import {
  computeAmount,
  computeOwnRefunds,
  computePriceDifference,
  computeRefundable,
  type Refundable,
} from './amounts.ts'
import { approve, saveLineRefunds } from './approve.ts'
import { addHistoryEntry, readMemberActor } from './history.ts'
import { type ItemRow, listItems, resolveUnits, saveUnits, toRefundLine } from './items.ts'
import { queueNotices } from './notice-queue.ts'
import { noteRefunds } from './order-warning.ts'
import { type ReadOrder, readRequestedOrder } from './read-order.ts'
import { mergeAddress } from './return-address.ts'
import type { Approval, addressBody, Confirmation, Rejection } from './schema.ts'
import {
  applyTransition,
  lockRequest,
  noRequest,
  type RequestRow,
  requireTransition,
  type TransitionName,
} from './transitions.ts'
import { lockOrder, readReservations } from './units.ts'

/** Refuses an unknown id (404), and everything that `approve` refuses. Not inside a transaction. */
export async function approveRequest(ctx: Context, id: string, approval: Approval): Promise<void> {
  const order = await readOrderFor(ctx, id, 'approve')
  await ctx.transaction(async (tx) => {
    const request = await lockRequest(tx, id)
    await approve(tx, request, await readMemberActor(tx), approval, order)
  })
}

/**
 * Reads the order of a request as it is now, before a transition. Refuses an unknown id (404) and a status without this
 * transition (409). Calls the platform, so not inside a transaction.
 */
async function readOrderFor(ctx: Context, id: string, name: TransitionName): Promise<ReadOrder | null> {
  const request = await requireRow(
    ctx.db.selectFrom('exchange_requests').select(['status', 'order_id']),
    id,
    noRequest,
  )
  requireTransition(request, name)
  return readRequestedOrder(ctx, request.order_id)
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
 * Records that items arrived, or that the request is complete. Refuses an unknown request (404), a status without this
 * transition, and a refund that the order, as it is now, does not have left (409). Refuses (400) more units than approved,
 * a receipt without units, and fields of the other request type. Not inside a transaction.
 */
export async function confirmRequest(ctx: Context, id: string, confirmation: Confirmation): Promise<void> {
  const order = await readOrderFor(ctx, id, confirmation.stage === 'received' ? 'receive' : 'complete')
  await ctx.transaction((tx) => confirm(tx, id, confirmation, order))
}

async function confirm(
  ctx: Context,
  id: string,
  confirmation: Confirmation,
  order: ReadOrder | null,
): Promise<void> {
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
    const remedy = request.status === 'in-transit' ? 'wait until it arrives' : 'reject the request instead'
    throw refuse('bad_request', `items: nothing was received: ${remedy}`)
  }
  await saveUnits(ctx, 'received_quantity', units)
  const values = await computeConfirmedAmounts(ctx, request, confirmation, {
    order,
    items,
    lines: (isReceived) =>
      items.map((item) => toRefundLine(item, isReceived ? units.get(item.id)! : approved(item))),
  })
  await applyTransition(ctx, request, name, {
    actor: await readMemberActor(ctx),
    note: confirmation.note ?? null,
    values: {
      ...values,
      ...(refundMethod === undefined ? {} : { refund_method: refundMethod }),
      ...(exchangeOrderId === undefined ? {} : { exchange_order_id: exchangeOrderId }),
    },
  })
}

interface ConfirmedItems {
  order: ReadOrder | null
  items: readonly ItemRow[]
  /** The approved units, or those of them that were received. */
  lines(isReceived: boolean): ReturnType<typeof toRefundLine>[]
}

/** The amounts of a confirmed request: no more than its order, as it is now, has left. */
async function computeConfirmedAmounts(
  ctx: Context,
  request: RequestRow,
  confirmation: Confirmation,
  { order, items, lines }: ConfirmedItems,
) {
  const { currency } = request
  const { toCents, toMoney } = inCurrency(currency)
  await lockOrder(ctx, request.order_id)
  const reserved = await readReservations(ctx, { id: request.order_id, currency }, request.id)
  const left = computeRefundable(order, reserved, lines(false), currency)
  const received = computeRefundable(order, reserved, lines(true), currency)
  const before = toCents(request.amount)
  const amount = toMoney(amounts.minCents(before, toCents(left.amount)))
  const isLess = toCents(amount) < before
  const isCompleted = confirmation.stage === 'completed'
  if (isCompleted && request.type === 'exchange') requireExchangeable(request, confirmation, left)
  const refund =
    request.type === 'return'
      ? resolveRefund(request, confirmation, computeAmount(lines(true), request.amount, currency), {
          left,
          received,
        })
      : null
  const promised = isCompleted ? (refund ?? amount) : amount
  const changed = {
    amount,
    refund_amount: refund,
    ...(isLess ? { amount_reason: left.reason } : {}),
    ...(isLess && request.type === 'exchange'
      ? { price_difference: computePriceDifference(lines(false), amount, currency) }
      : {}),
  }
  if (!order) return changed
  await noteRefunds(ctx, request, order)
  // Refunds that lowered the promise are not refunds of this request, so they must not count for it later.
  if (isLess && Number(promised) > 0) await saveLineRefunds(ctx, items, order)
  else if (!isCompleted) return changed
  const refunded = toCents(order.refundedTotal)
  const since = amounts.atLeastZero(refunded - toCents(request.order_refunded))
  const own = isLess ? 0n : toCents(computeOwnRefunds(order, lines(true), promised))
  return { ...changed, order_refunded: toMoney(refunded - amounts.minCents(own, since)) }
}

/** Refuses (409) to complete an exchange of items that were refunded, unless it is known which order replaced them. */
function requireExchangeable(request: RequestRow, { exchangeOrderId }: Confirmation, left: Refundable): void {
  if (left.reason === null || Number(left.amount) > 0) return
  if ((exchangeOrderId ?? request.exchange_order_id) !== null) return
  throw refuse(
    'conflict',
    `${left.reason}: give the exchangeOrderId of the order that replaced it, or confirm it as received and reject it`,
  )
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
 * The refund to record: the given one, else at completion the one recorded before or the value of the received units, as
 * far as it can still be refunded. Refuses (400) more than the amount and (409) more than the order has left.
 */
function resolveRefund(
  request: RequestRow,
  { stage, refundAmount }: Confirmation,
  value: string,
  { left, received }: { left: Refundable; received: Refundable },
): string | null {
  if (refundAmount !== undefined) {
    if (refundAmount > Number(request.amount)) {
      throw refuse('bad_request', `refundAmount: must be at most ${request.amount}, the amount`)
    }
    if (refundAmount > Number(left.amount)) {
      throw refuse(
        'conflict',
        `refundAmount: must be at most ${left.amount}, or 0 if it was refunded already. ${left.reason}`,
      )
    }
    const issue = findAmountIssue(refundAmount, request.currency)
    if (issue) throw refuse('bad_request', `refundAmount: ${issue}`)
    return inCurrency(request.currency).formatAmount(refundAmount)
  }
  if (stage !== 'completed') return request.refund_amount
  const { toCents, toMoney } = inCurrency(request.currency)
  const wanted = toCents(request.refund_amount ?? value)
  const refund = amounts.minCents(wanted, toCents(received.amount))
  if (wanted > 0n && refund === 0n) {
    throw refuse(
      'conflict',
      `${received.reason}: send refundAmount 0 if this return was refunded already, or reject it`,
    )
  }
  return toMoney(refund)
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
