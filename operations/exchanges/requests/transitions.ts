/**
 * The states of a request and the transitions between them. A transition is a conditional SQL update; its history entry and
 * the notifications of shopper and merchant are written in the same transaction, the caller's.
 */
import type { UpdateObject } from 'kysely'
import type { Row, TenantTables } from '#db/tables'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { Wording } from '#runtime/values/wording'
import type { ExchangeEvent } from '../settings/schema.ts'
import { addHistoryEntry, type HistoryActor } from './history.ts'
import { queueNotices } from './notice-queue.ts'
import { warnOfCancelledOrder } from './order-warning.ts'

export const statuses = [
  'requested',
  'approved',
  'in-transit',
  'received',
  'completed',
  'rejected',
  'cancelled',
  'expired',
] as const
export type Status = (typeof statuses)[number]
export type RequestRow = Row<'exchange_requests'>
type Stamp =
  `${'approved' | 'in_transit' | 'received' | 'completed' | 'rejected' | 'cancelled' | 'expired'}_at`

interface Transition {
  from: readonly Status[]
  to: Status
  /** Event name in the history. */
  event: string
  stamp: Stamp
  /** Event of which the shopper is notified; null if they are not notified. */
  notifies: ExchangeEvent | null
  /** First part of the error message when the status does not allow the transition. */
  refusalText: string | Wording
}

const transitions = {
  approve: {
    from: ['requested'],
    to: 'approved',
    event: 'approved',
    stamp: 'approved_at',
    notifies: 'approved',
    refusalText: 'Only a request that waits for a decision can be approved',
  },
  reject: {
    from: ['requested', 'approved', 'received'],
    to: 'rejected',
    event: 'rejected',
    stamp: 'rejected_at',
    notifies: 'rejected',
    refusalText: 'Only a request that is requested, approved or received can be rejected',
  },
  ship: {
    from: ['approved'],
    to: 'in-transit',
    event: 'shipped',
    stamp: 'in_transit_at',
    notifies: null,
    refusalText: {
      en: 'Only an approved request can be sent',
      'pt-BR': 'Só uma solicitação aprovada pode ser enviada',
      es: 'Solo se puede enviar una solicitud aprobada',
    },
  },
  receive: {
    from: ['approved', 'in-transit'],
    to: 'received',
    event: 'received',
    stamp: 'received_at',
    notifies: 'received',
    refusalText: 'Only a request that is approved or in transit can be received',
  },
  complete: {
    from: ['approved', 'in-transit', 'received'],
    to: 'completed',
    event: 'completed',
    stamp: 'completed_at',
    notifies: 'completed',
    refusalText: 'Only a request that is approved, in transit or received can be completed',
  },
  cancel: {
    from: ['requested', 'approved'],
    to: 'cancelled',
    event: 'cancelled',
    stamp: 'cancelled_at',
    notifies: null,
    refusalText: {
      en: 'Only a request that waits for a decision or for its items can be cancelled',
      'pt-BR': 'Só uma solicitação que espera uma decisão ou os produtos pode ser cancelada',
      es: 'Solo se puede cancelar una solicitud que espera una decisión o los artículos',
    },
  },
  expire: {
    from: ['approved'],
    to: 'expired',
    event: 'expired',
    stamp: 'expired_at',
    notifies: 'expired',
    refusalText: 'Only an approved request can expire',
  },
} as const satisfies Record<string, Transition>
export type TransitionName = keyof typeof transitions

export const noRequest = 'There is no such request'

/** Reads the request and locks its row. Refuses (404) an unknown id. */
export const lockRequest = (ctx: Context, id: string): Promise<RequestRow> =>
  requireRow(ctx.db.selectFrom('exchange_requests').selectAll().forUpdate(), id, noRequest)

/** Refuses (409) a transition that the status does not allow. */
export function requireTransition(request: Pick<RequestRow, 'status'>, name: TransitionName): void {
  const { from, refusalText }: Transition = transitions[name]
  if (from.includes(request.status as Status)) return
  const such = `this one is ${request.status}`
  throw refuse(
    'conflict',
    typeof refusalText === 'string'
      ? `${refusalText}: ${such}`
      : { ...refusalText, en: `${refusalText.en}: ${such}` },
  )
}

/** Transitions that lead to a refund. If the order was cancelled, the merchant is warned after one of them. */
const refundTransitions: ReadonlySet<TransitionName> = new Set(['approve', 'receive', 'complete'])

/** Statuses without refund or replacement: values recorded earlier for either are cleared. */
const abandonedStatuses: ReadonlySet<Status> = new Set(['rejected', 'cancelled', 'expired'])
/** Events whose notice is no longer true once the request is abandoned. */
const progressEvents: ReadonlySet<ExchangeEvent> = new Set(['requested', 'approved', 'received', 'completed'])

/** Whether a notice of an event is still true for a request with this status. */
export function isStillTrue(event: ExchangeEvent, status: string): boolean {
  // Once the items are sent, a new return address is of no use to the shopper.
  if (event === 'addressChanged') return status === 'approved'
  return !progressEvents.has(event) || !abandonedStatuses.has(status as Status)
}

const noOutcome = { refund_amount: null, exchange_order_id: null } as const

/**
 * Applies a transition to a request that the caller has locked (`lockRequest`) or just inserted, and returns the changed
 * row. `values` are further columns to set. A caller that changes items does so before. Refuses (409) a status that does
 * not allow the transition.
 */
export async function applyTransition(
  ctx: Context,
  request: RequestRow,
  name: TransitionName,
  {
    actor,
    values = {},
    note: words = null,
  }: {
    actor: HistoryActor
    values?: UpdateObject<TenantTables, 'exchange_requests'>
    /** Note in the history. */
    note?: string | null
  },
): Promise<RequestRow> {
  requireTransition(request, name)
  const { to, event, stamp, notifies }: Transition = transitions[name]
  const now = ctx.now()
  const moved = await ctx.db
    .updateTable('exchange_requests')
    .set({
      ...values,
      ...(abandonedStatuses.has(to) ? noOutcome : {}),
      status: to,
      [stamp]: now,
      updated_at: now,
    })
    .where('id', '=', request.id)
    .where('status', '=', request.status)
    .returningAll()
    .executeTakeFirst()
  if (!moved) throw refuse('conflict', 'The request has moved meanwhile: read it again')
  const { status: fromStatus } = request
  await addHistoryEntry(ctx, request.id, { event, actor, fromStatus, toStatus: to, note: words })
  if (refundTransitions.has(name)) await warnOfCancelledOrder(ctx, moved)
  if (notifies) await queueNotices(ctx, moved, notifies)
  if (name === 'cancel') await notifyCancelled(ctx, moved)
  return moved
}

const describeRequest = ({ number, order_number, customer_name }: RequestRow): string =>
  `${number}, order ${order_number}${customer_name ? `, ${customer_name}` : ''}`

/** Notifies the merchant of a new request. */
export const notifyRequested = (ctx: Context, request: RequestRow): Promise<void> =>
  notify(ctx, {
    type: 'exchange-requested',
    level: 'info',
    title: request.type === 'return' ? 'A return was requested' : 'An exchange was requested',
    message: `${describeRequest(request)}.`,
    data: { requestId: request.id },
    dedupeKey: `exchange-requested:${request.id}`,
  })

const notifyCancelled = (ctx: Context, request: RequestRow): Promise<void> =>
  notify(ctx, {
    type: 'exchange-cancelled',
    level: 'info',
    title: `The shopper cancelled ${request.number}`,
    message: `${describeRequest(request)}: its units are free again.`,
    data: { requestId: request.id },
    dedupeKey: `exchange-cancelled:${request.id}`,
  })
