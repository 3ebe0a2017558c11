/**
 * The states of a request, and the one way from one to another: conditional in SQL, with its entry in the history, what
 * the shopper is told and what the merchant is, all in the caller's transaction.
 */
import type { UpdateObject } from 'kysely'
import type { Row, TenantTables } from '#db/tables'
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import type { Wording } from '#runtime/values/wording'
import type { ExchangeEvent } from '../settings/schema.ts'
import { type HistoryActor, note } from './history.ts'
import { warnOfCancelled } from './order-warning.ts'
import { tell } from './tell.ts'

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

interface Move {
  from: readonly Status[]
  to: Status
  /** In the history. */
  event: string
  stamp: Stamp
  /** What the shopper is told, null for nothing. */
  tells: ExchangeEvent | null
  /** How a refusal begins, where it has another status. */
  needs: string | Wording
}

const moves = {
  approve: {
    from: ['requested'],
    to: 'approved',
    event: 'approved',
    stamp: 'approved_at',
    tells: 'approved',
    needs: 'Only a request that waits for a decision can be approved',
  },
  reject: {
    from: ['requested', 'approved', 'received'],
    to: 'rejected',
    event: 'rejected',
    stamp: 'rejected_at',
    tells: 'rejected',
    needs: 'Only a request that is requested, approved or received can be rejected',
  },
  ship: {
    from: ['approved'],
    to: 'in-transit',
    event: 'shipped',
    stamp: 'in_transit_at',
    tells: null,
    needs: {
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
    tells: 'received',
    needs: 'Only a request that is approved or in transit can be received',
  },
  complete: {
    from: ['approved', 'in-transit', 'received'],
    to: 'completed',
    event: 'completed',
    stamp: 'completed_at',
    tells: 'completed',
    needs: 'Only a request that is approved, in transit or received can be completed',
  },
  cancel: {
    from: ['requested', 'approved'],
    to: 'cancelled',
    event: 'cancelled',
    stamp: 'cancelled_at',
    tells: null,
    needs: {
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
    tells: 'expired',
    needs: 'Only an approved request can expire',
  },
} as const satisfies Record<string, Move>
export type MoveName = keyof typeof moves

export const noRequest = 'There is no such request'

/** The request, its row held to the end of the transaction. Refuses (404) an id that is none of this store's. */
export const lockRequest = (ctx: Context, id: string): Promise<RequestRow> =>
  oneRow(ctx.db.selectFrom('exchange_requests').selectAll().forUpdate(), id, noRequest)

/** Refuses (409) a move that the status does not allow. */
export function refuseMove(request: Pick<RequestRow, 'status'>, name: MoveName): void {
  const { from, needs }: Move = moves[name]
  if (from.includes(request.status as Status)) return
  const such = `this one is ${request.status}`
  throw refuse(
    'conflict',
    typeof needs === 'string' ? `${needs}: ${such}` : { ...needs, en: `${needs.en}: ${such}` },
  )
}

/** Steps towards giving back what the order cost. */
const promising: ReadonlySet<MoveName> = new Set(['approve', 'receive', 'complete'])

/** Nothing comes of these: what was told of an outcome goes. */
const undone: ReadonlySet<Status> = new Set(['rejected', 'cancelled', 'expired'])
/** What is told of a request that goes on. */
const goingOn: ReadonlySet<ExchangeEvent> = new Set(['requested', 'approved', 'received', 'completed'])

/** Whether what an event tells is true of a request that has this status by now. */
export function holdsFor(event: ExchangeEvent, status: string): boolean {
  // Whose items have left is not told where to send them.
  if (event === 'addressChanged') return status === 'approved'
  return !goingOn.has(event) || !undone.has(status as Status)
}

const noOutcome = { refund_amount: null, exchange_order_id: null } as const

/**
 * Moves a request whose row the caller holds (`lockRequest`) or has just made; answers it as it is then. `values`: what
 * else changes with it; items are the caller's business, before. Refuses (409) where its status does not allow it.
 */
export async function move(
  ctx: Context,
  request: RequestRow,
  name: MoveName,
  {
    actor,
    values = {},
    note: words = null,
  }: {
    actor: HistoryActor
    values?: UpdateObject<TenantTables, 'exchange_requests'>
    /** For the history. */
    note?: string | null
  },
): Promise<RequestRow> {
  refuseMove(request, name)
  const { to, event, stamp, tells }: Move = moves[name]
  const now = ctx.now()
  const moved = await ctx.db
    .updateTable('exchange_requests')
    .set({ ...values, ...(undone.has(to) ? noOutcome : {}), status: to, [stamp]: now, updated_at: now })
    .where('id', '=', request.id)
    .where('status', '=', request.status)
    .returningAll()
    .executeTakeFirst()
  if (!moved) throw refuse('conflict', 'The request has moved meanwhile: read it again')
  const { status: fromStatus } = request
  await note(ctx, request.id, { event, actor, fromStatus, toStatus: to, note: words })
  if (promising.has(name)) await warnOfCancelled(ctx, moved)
  if (tells) await tell(ctx, moved, tells)
  if (name === 'cancel') await announceCancelled(ctx, moved)
  return moved
}

const named = ({ number, order_number, customer_name }: RequestRow): string =>
  `${number}, order ${order_number}${customer_name ? `, ${customer_name}` : ''}`

/** Tells the merchant of a request that has just come in. */
export const announceRequested = (ctx: Context, request: RequestRow): Promise<void> =>
  notify(ctx, {
    type: 'exchange-requested',
    level: 'info',
    title: request.type === 'return' ? 'A return was requested' : 'An exchange was requested',
    message: `${named(request)}.`,
    data: { requestId: request.id },
    dedupeKey: `exchange-requested:${request.id}`,
  })

const announceCancelled = (ctx: Context, request: RequestRow): Promise<void> =>
  notify(ctx, {
    type: 'exchange-cancelled',
    level: 'info',
    title: `The shopper cancelled ${request.number}`,
    message: `${named(request)}: its units are free again.`,
    data: { requestId: request.id },
    dedupeKey: `exchange-cancelled:${request.id}`,
  })
