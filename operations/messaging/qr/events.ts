/** Applies the provider's events of a QR session: scanned, linked, link lost, link restored, logged out. */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import type { RowChange } from '#db/tables'
import { type events, notify } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import { connectedNumberChanged } from '../button/button.ts'
import { qrLinkLost } from '../handles.ts'
import { announceNumber, claimPhone, notifyConnected } from '../numbers/connected.ts'
import { type EndReason, getSessionState } from '../numbers/qr-state.ts'
import { addRelease } from '../numbers/releases.ts'
import type { QrSessionData } from '../provider/number-port.ts'

type StoredEvent = events.StoredEvent

const lostForMs = 30 * minuteMs
/** The queue uses the database's clock: without this margin a job could run too early. */
const clockMarginMs = 250

async function queueLinkLost(ctx: Context, lostAt: Date): Promise<void> {
  const at = new Date(lostAt.getTime() + lostForMs + clockMarginMs)
  await ctx.queue(qrLinkLost, { lostAt: lostAt.toISOString() }, { at })
}

/** Maps event ids to the stores of their QR sessions. An unknown session is left out: it may not be committed yet. */
export async function findSessionStores(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<Map<string, string>> {
  if (stored.length === 0) return new Map()
  const refOf = (event: StoredEvent): string => (event.data as QrSessionData).sessionRef
  const rows = await ctx.root
    .selectFrom('messaging_connections')
    .select(['session_ref', 'store_id'])
    .where('session_ref', '=', sql<string>`any(${stored.map(refOf)}::text[])`)
    .where(isInStores('store_id', await findStoreIds(ctx.root, 'messaging-session', stored.map(refOf))))
    .execute()
  const stores = new Map(rows.map((row) => [row.session_ref, row.store_id]))
  return new Map(
    stored.flatMap((event) => {
      const store = stores.get(refOf(event))
      return store ? [[event.id, store] as const] : []
    }),
  )
}

/** Applies events in the order they happened. */
export async function applySessionEvents(ctx: Context, stored: StoredEvent[]): Promise<void> {
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  for (const { data, occurredAt } of inOrder) await applyOne(ctx, data as QrSessionData, occurredAt)
}

async function applyOne(ctx: Context, data: QrSessionData, at: Date): Promise<void> {
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .selectAll()
    .where('type', '=', 'qr')
    .where('session_ref', '=', data.sessionRef)
    .forUpdate()
    .executeTakeFirst()
  // Another session has replaced the event's session.
  if (!row) return
  // Reads the state at the time of the event, because the event may be applied late.
  const { status } = getSessionState(row, at)
  const isWaiting = status === 'awaiting-scan' || status === 'connecting'
  switch (data.event) {
    case 'scanned':
      if (status === 'awaiting-scan') await updateSession(ctx, { status: 'connecting' })
      return
    case 'linked':
      if (isWaiting) await recordLink(ctx, row.provider, data, at)
      // The session ended while the phone was scanning.
      else if (status !== 'connected' && status !== 'reconnecting') {
        await addRelease(ctx, { kind: 'qr', provider: row.provider, subject: data.sessionRef })
      }
      return
    case 'lost':
      if (status !== 'connected') return
      await updateSession(ctx, { status: 'reconnecting', lost_at: at })
      await connectedNumberChanged(ctx)
      await queueLinkLost(ctx, at)
      return
    case 'back':
      if (status !== 'reconnecting') return
      await updateSession(ctx, { status: 'connected', lost_at: null })
      await notifyConnected(ctx, 'qr')
      return
    case 'logout':
    case 'replaced':
      if (!isWaiting && status !== 'connected' && status !== 'reconnecting') return
      await recordEnd(ctx, data.event === 'logout' ? 'logged-out' : 'replaced', at)
      if (isWaiting) return
      await connectedNumberChanged(ctx)
      await notifyEnd(ctx, row.phone)
  }
}

async function recordLink(ctx: Context, provider: string, data: QrSessionData, at: Date): Promise<void> {
  const { phone, name, numberId, sessionRef } = data
  if (!phone || !(await claimPhone(ctx, phone))) {
    await recordEnd(ctx, 'number-in-use', at)
    await addRelease(ctx, { kind: 'qr', provider, subject: sessionRef })
    return
  }
  await updateSession(ctx, {
    status: 'connected',
    number_id: numberId,
    phone,
    phone_key: phoneKey(phone),
    display_name: name,
    connected_at: at,
    checked_at: ctx.now(),
    session_codes: null,
  })
  await announceNumber(ctx, 'qr', { phone, displayName: name })
}

const recordEnd = (ctx: Context, reason: EndReason, at: Date): Promise<void> =>
  updateSession(ctx, {
    status: 'disconnected',
    end_reason: reason,
    session_ended_at: at,
    session_codes: null,
    lost_at: null,
  })

async function updateSession(ctx: Context, set: RowChange<'messaging_connections'>): Promise<void> {
  await ctx.db
    .updateTable('messaging_connections')
    .set({ ...set, updated_at: ctx.now() })
    .where('type', '=', 'qr')
    .execute()
}

async function notifyEnd(ctx: Context, phone: string | null): Promise<void> {
  await notify(ctx, {
    type: 'messaging-disconnected',
    level: 'error',
    title: `${phone ?? 'The phone'} is not linked any more`,
    message: 'The link was ended on the phone. Nothing leaves through it until you scan a new code.',
    data: { connectionType: 'qr', phone },
    dedupeKey: null,
  })
}

/** Notifies the merchant of a link that has been lost for 30 minutes. */
export async function notifyLinkLost(ctx: Context, lostAt: Date): Promise<void> {
  if (ctx.now().getTime() < lostAt.getTime() + lostForMs) return queueLinkLost(ctx, lostAt)
  await ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('messaging_connections')
      .select('phone')
      .where('type', '=', 'qr')
      .where('status', '=', 'reconnecting')
      .where('lost_at', '=', lostAt)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return
    await notify(tx, {
      type: 'messaging-disconnected',
      level: 'warning',
      title: `${row.phone ?? 'The phone'} has been out of reach for 30 minutes`,
      message: 'Nothing leaves meanwhile. Look whether the phone is on and connected to the internet.',
      data: { connectionType: 'qr', phone: row.phone },
      dedupeKey: `messaging-disconnected:${lostAt.toISOString()}`,
    })
  })
}
