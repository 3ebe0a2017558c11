/** State transitions of an official number as reported by the provider, with their notifications. */

import type { Row, RowChange } from '#db/tables'
import { health, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { unseal } from '#runtime/secrets'
import { phoneKey } from '#runtime/values/phone'
import { connectedNumberChanged } from '../button/button.ts'
import { templateSync } from '../handles.ts'
import { announceNumber, claimPhone } from '../numbers/connected.ts'
import { setNumberLimit, tierLimits } from '../numbers/limit.ts'
import { describeIssue } from '../numbers/official-state.ts'
import { savePin } from '../numbers/pins.ts'
import { getProvider } from '../numbers/provider.ts'
import type { NumberHealth, NumberIssue, OfficialState } from '../provider/number-port.ts'
import { endSetups } from './setup.ts'

export type OfficialNumberRow = Row<'messaging_connections'>

/** Locks the official number's row until the transaction ends; null if there never was one. */
export async function lockOfficial(ctx: Context): Promise<OfficialNumberRow | null> {
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .selectAll()
    .where('type', '=', 'official')
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Saves the PIN before the credentials are destroyed: connecting the number again requires it. */
export async function saveCurrentPin(
  ctx: Context,
  { credentials, provider }: OfficialNumberRow,
): Promise<void> {
  if (!credentials) return
  const { port } = getProvider(ctx, provider)
  const unsealed = unseal(ctx.settings, ctx.store.id, credentials)
  if (unsealed) await savePin(ctx, port.numberPin({ id: ctx.store.id, credentials: unsealed }))
}

export async function updateOfficial(ctx: Context, set: RowChange<'messaging_connections'>): Promise<void> {
  await ctx.db
    .updateTable('messaging_connections')
    .set({ ...set, updated_at: ctx.now() })
    .where('type', '=', 'official')
    .execute()
}

/** Applies the provider's answer to a locked number, and sets `checked_at`. */
export async function applyState(ctx: Context, row: OfficialNumberRow, state: OfficialState): Promise<void> {
  const { displayNameStatus } = state
  await updateOfficial(ctx, { display_name_status: displayNameStatus, checked_at: ctx.now() })
  if (state.status === 'error') return markError(ctx, row, state.issue ?? 'account-restricted')
  const phone = state.phone || row.phone
  const displayName = state.displayName || row.display_name
  // A connected number keeps sending while, for example, a new name is reviewed.
  if (state.status === 'verifying' && row.status !== 'connected') {
    const names = { phone, phone_key: phone && phoneKey(phone), display_name: displayName }
    return updateOfficial(ctx, { status: 'verifying', issue_code: null, ...names })
  }
  await markConnected(ctx, row, { phone, displayName })
}

/** Marks a number as connected. If another store has connected it meanwhile, marks it as `number-removed` instead. */
export async function markConnected(
  ctx: Context,
  row: OfficialNumberRow,
  number: { phone: string | null; displayName: string | null },
): Promise<void> {
  const { phone, displayName } = number
  if (!phone || !(await claimPhone(ctx, phone))) return markError(ctx, row, 'number-removed')
  const isNew = row.status !== 'connected'
  await updateOfficial(ctx, {
    status: 'connected',
    issue_code: null,
    phone,
    phone_key: phoneKey(phone),
    display_name: displayName,
    ...(isNew ? { connected_at: ctx.now() } : {}),
  })
  if (!isNew) return
  await endSetups(ctx, 'recovered')
  await announceNumber(ctx, 'official', { phone, displayName })
  await ctx.queue(templateSync, {})
}

/** Sets the number's issue and notifies the merchant. Does nothing if the number already has this issue. */
export async function markError(ctx: Context, row: OfficialNumberRow, issue: NumberIssue): Promise<void> {
  if (row.status === 'error' && row.issue_code === issue) return
  await updateOfficial(ctx, { status: 'error', issue_code: issue })
  await connectedNumberChanged(ctx)
  const { message } = describeIssue(issue)
  await health.applyHealthEvent(
    ctx,
    { port: 'messaging', part: 'official', provider: row.provider, connectedAt: row.connected_at },
    { kind: 'lost', code: issue, message: 'The number cannot send', remedy: message },
  )
  await notify(ctx, {
    type: 'official-number-issue',
    level: 'error',
    title: `The official number ${row.phone ?? ''} cannot send`.replace('  ', ' '),
    message: `${message}.`,
    data: { connectionType: 'official', issue },
    dedupeKey: null,
  })
}

const tiers = Object.keys(tierLimits)

/** Saves a number's health and its limit; notifies of red quality or a lower tier. */
export async function saveHealth(
  ctx: Context,
  row: OfficialNumberRow,
  health: NumberHealth,
  askedAt: Date | null,
): Promise<void> {
  const before = row.health as NumberHealth | null
  const at = askedAt ? { health_at: askedAt } : {}
  await updateOfficial(ctx, { health: JSON.stringify(health), ...at })
  const { messagingLimitTier: tier } = health
  if (row.number_id) await setNumberLimit(ctx, row.number_id, tierLimits[tier] ?? null)
  if (!before) return
  const isRed = health.qualityRating === 'red' && before.qualityRating !== 'red'
  const isLower = tiers.indexOf(tier) < tiers.indexOf(before.messagingLimitTier)
  if (!isRed && !isLower) return
  const reasons = [
    ...(isRed ? ['its quality is red: people block or report its messages'] : []),
    ...(isLower ? [`it may write to fewer new people in 24 hours (${tierLimits[tier]})`] : []),
  ]
  await notify(ctx, {
    type: 'number-quality',
    level: 'warning',
    title: `The standing of ${row.phone ?? 'the official number'} went down`,
    message: `By its provider's word ${reasons.join(', and ')}.`,
    data: { qualityRating: health.qualityRating, messagingLimitTier: tier },
    dedupeKey: null,
  })
}
