/** Starts and ends a QR session (rule 2). */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { seal } from '#runtime/secrets'
import { qrSessionExpire } from '../handles.ts'
import { getDefaultProvider, type Provider } from '../numbers/provider.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { getSessionEnd, getSessionState, isLive } from '../numbers/qr-state.ts'
import { addReleaseForRequest, tryRelease } from '../numbers/releases.ts'
import { deselectConnection } from '../numbers/select.ts'
import { qrCodes } from '../provider/qr-times.ts'
import { getCodesContext } from './read.ts'

const providerTimeoutMs = 20_000
/** A start that takes longer belongs to a dead process. */
const deadAfterMs = minuteMs

/**
 * Requests a session and its codes from the provider, and replaces a session that nobody has scanned. Runs outside a
 * transaction. Refuses if a phone is linked, if the provider has no QR connection, and if another start is running.
 */
export async function startSession(ctx: Context): Promise<void> {
  const provider = getDefaultProvider(ctx)
  if (!provider.port.capabilities.qr) {
    throw refuse('conflict', 'The provider of this server links no phones by QR code: use another connection')
  }
  const claimedAt = await claimStart(ctx)
  try {
    const startedAt = ctx.now()
    const session = await withProviderTimeout(requestCodes(ctx, provider), providerTimeoutMs)
    await ctx.transaction((tx) => writeSession(tx, { ...session, provider, claimedAt, startedAt }))
  } catch (error) {
    await ctx.db
      .updateTable('messaging_connections')
      .set({ session_claimed_at: null })
      .where('type', '=', 'qr')
      .where('session_claimed_at', '=', claimedAt)
      .execute()
    throw error
  }
}

async function claimStart(ctx: Context): Promise<Date> {
  const now = ctx.now()
  await ctx.db
    .insertInto('messaging_connections')
    .values({ type: 'qr', status: 'none', created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const claimed = await ctx.db
    .updateTable('messaging_connections')
    .set({ session_claimed_at: now })
    .where('type', '=', 'qr')
    .where('status', 'not in', ['connecting', 'connected', 'reconnecting'])
    .where((eb) =>
      eb.or([
        eb('session_claimed_at', 'is', null),
        eb('session_claimed_at', '<=', new Date(now.getTime() - deadAfterMs)),
      ]),
    )
    .returning('type')
    .executeTakeFirst()
  if (claimed) return now
  const { status } = await ctx.db
    .selectFrom('messaging_connections')
    .select('status')
    .where('type', '=', 'qr')
    .executeTakeFirstOrThrow()
  if (isLive(status) && status !== 'awaiting-scan') {
    throw refuse('conflict', `A phone is ${status} already: end that session first`)
  }
  throw refuseTemporarily(
    'conflict',
    'A session is being started at this moment: look at it in a few seconds',
  )
}

/** Requests all codes of a session at once. The time decides which of them is current, so no job is needed. */
async function requestCodes(
  ctx: Context,
  { port }: Provider,
): Promise<{ sessionRef: string; payloads: string[] }> {
  const store = { id: ctx.store.id, credentials: null }
  const { sessionRef, payload } = await port.startQr(store)
  const payloads = [payload]
  while (payloads.length < qrCodes) payloads.push((await port.refreshQr(store, sessionRef)).payload)
  return { sessionRef, payloads }
}

async function writeSession(
  tx: Context,
  session: { sessionRef: string; payloads: string[]; provider: Provider; claimedAt: Date; startedAt: Date },
): Promise<void> {
  const { sessionRef, payloads, provider, claimedAt, startedAt } = session
  const written = await tx.db
    .updateTable('messaging_connections')
    .set({
      status: 'awaiting-scan',
      provider: provider.name,
      session_ref: sessionRef,
      session_codes: seal(tx.settings, getCodesContext(tx), payloads),
      session_started_at: startedAt,
      session_claimed_at: null,
      session_ended_at: null,
      end_reason: null,
      lost_at: null,
      phone: null,
      phone_key: null,
      display_name: null,
      connected_at: null,
      updated_at: tx.now(),
    })
    .where('type', '=', 'qr')
    .where('session_claimed_at', '=', claimedAt)
    .returning('type')
    .executeTakeFirst()
  if (!written) throw refuse('conflict', 'Another session was started meanwhile: scan its code')
  await queueExpiry(tx, startedAt)
}

/** The queue uses the database's clock: without this margin the job could run before the session ends. */
const clockMarginMs = 250

async function queueExpiry(ctx: Context, startedAt: Date): Promise<void> {
  const at = new Date(getSessionEnd(startedAt).getTime() + clockMarginMs)
  await ctx.queue(qrSessionExpire, { startedAt: startedAt.toISOString() }, { at })
}

/** Ends the store's QR session. Logs the phone out now, or by a job if that fails. Refuses if there is no session. */
export async function endSession(ctx: Context): Promise<void> {
  const releaseId = await ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('messaging_connections')
      .select(['status', 'provider', 'session_ref', 'session_started_at', 'session_ended_at', 'end_reason'])
      .where('type', '=', 'qr')
      .forUpdate()
      .executeTakeFirst()
    if (!row || !isLive(getSessionState(row, tx.now()).status)) {
      throw refuse('conflict', 'There is no QR session to end')
    }
    await tx.db
      .updateTable('messaging_connections')
      .set({
        status: 'disconnected',
        end_reason: 'merchant',
        session_codes: null,
        session_ended_at: tx.now(),
        lost_at: null,
        updated_at: tx.now(),
      })
      .where('type', '=', 'qr')
      .execute()
    await deselectConnection(tx, 'qr')
    return addReleaseForRequest(tx, { kind: 'qr', provider: row.provider, subject: row.session_ref })
  })
  await tryRelease(ctx, releaseId)
}

/** Records the end of a session whose last code expired, and releases it at the provider. */
export async function expireSession(ctx: Context, startedAt: Date): Promise<void> {
  if (ctx.now() < getSessionEnd(startedAt)) return queueExpiry(ctx, startedAt)
  const releaseId = await ctx.transaction(async (tx) => {
    const ended = await tx.db
      .updateTable('messaging_connections')
      .set({
        status: 'expired',
        end_reason: 'expired',
        session_codes: null,
        session_ended_at: getSessionEnd(startedAt),
        updated_at: tx.now(),
      })
      .where('type', '=', 'qr')
      .where('status', '=', 'awaiting-scan')
      .where('session_started_at', '=', startedAt)
      .returning(['provider', 'session_ref'])
      .executeTakeFirst()
    if (!ended) return null
    const release = { kind: 'qr', provider: ended.provider, subject: ended.session_ref } as const
    return addReleaseForRequest(tx, release)
  })
  if (releaseId) await tryRelease(ctx, releaseId)
}
