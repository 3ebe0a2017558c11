/** Where an official number goes by its provider's word, and what the merchant is told of it. */

import type { Row, RowChange } from '#db/tables'
import { health, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { unseal } from '#runtime/secrets'
import { phoneKey } from '#runtime/values/phone'
import { connectedNumberChanged } from '../button/button.ts'
import { templateSync } from '../handles.ts'
import { claimPhone, welcome } from '../numbers/connected.ts'
import { setNumberLimit, tierLimits } from '../numbers/limit.ts'
import { describeIssue } from '../numbers/official-clock.ts'
import { keepPin } from '../numbers/pins.ts'
import { providerNamed } from '../numbers/provider.ts'
import type { NumberHealth, NumberIssue, OfficialState } from '../provider/number-port.ts'
import { endSetups } from './setup.ts'

export type OfficialNumberRow = Row<'messaging_connections'>

/** The official number's row, locked until the transaction ends; null when there never was one. */
export async function lockOfficial(ctx: Context): Promise<OfficialNumberRow | null> {
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .selectAll()
    .where('type', '=', 'official')
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Before its access is destroyed: the number is asked for its PIN when it connects anew. */
export async function keepPinOf(ctx: Context, { credentials, provider }: OfficialNumberRow): Promise<void> {
  if (!credentials) return
  const { port } = providerNamed(ctx, provider)
  const unsealed = unseal(ctx.settings, ctx.store.id, credentials)
  if (unsealed) await keepPin(ctx, port.numberPin({ id: ctx.store.id, credentials: unsealed }))
}

export async function changeOfficial(ctx: Context, set: RowChange<'messaging_connections'>): Promise<void> {
  await ctx.db
    .updateTable('messaging_connections')
    .set({ ...set, updated_at: ctx.now() })
    .where('type', '=', 'official')
    .execute()
}

/** Takes over what the provider answers of a locked number. `checkedAt` is now. */
export async function takeOverState(
  ctx: Context,
  row: OfficialNumberRow,
  state: OfficialState,
): Promise<void> {
  const { displayNameStatus } = state
  await changeOfficial(ctx, { display_name_status: displayNameStatus, checked_at: ctx.now() })
  if (state.status === 'error') return toTrouble(ctx, row, state.issue ?? 'account-restricted')
  const phone = state.phone || row.phone
  const displayName = state.displayName || row.display_name
  // One that sends goes on sending while, say, a new name is looked at.
  if (state.status === 'verifying' && row.status !== 'connected') {
    const names = { phone, phone_key: phone && phoneKey(phone), display_name: displayName }
    return changeOfficial(ctx, { status: 'verifying', issue_code: null, ...names })
  }
  await toConnected(ctx, row, { phone, displayName })
}

/** A number that is ready, or well again; one that another store has connected meanwhile stays in trouble. */
export async function toConnected(
  ctx: Context,
  row: OfficialNumberRow,
  number: { phone: string | null; displayName: string | null },
): Promise<void> {
  const { phone, displayName } = number
  if (!phone || !(await claimPhone(ctx, phone))) return toTrouble(ctx, row, 'number-removed')
  const isNew = row.status !== 'connected'
  await changeOfficial(ctx, {
    status: 'connected',
    issue_code: null,
    phone,
    phone_key: phoneKey(phone),
    display_name: displayName,
    ...(isNew ? { connected_at: ctx.now() } : {}),
  })
  if (!isNew) return
  await endSetups(ctx, 'recovered')
  await welcome(ctx, 'official', { phone, displayName })
  await ctx.queue(templateSync, {})
}

/** Told once a cause: while it stays the same, nobody hears of it again. */
export async function toTrouble(ctx: Context, row: OfficialNumberRow, issue: NumberIssue): Promise<void> {
  if (row.status === 'error' && row.issue_code === issue) return
  await changeOfficial(ctx, { status: 'error', issue_code: issue })
  await connectedNumberChanged(ctx)
  const { message } = describeIssue(issue)
  await health.moveConnection(
    ctx,
    { port: 'messaging', part: 'official', provider: row.provider, connectedAt: row.connected_at },
    { is: 'lost', code: issue, message: 'The number cannot send', remedy: message },
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

/** Keeps a number's health, its limit with it, and tells of red quality or a lower tier. */
export async function takeOverHealth(
  ctx: Context,
  row: OfficialNumberRow,
  health: NumberHealth,
  askedAt: Date | null,
): Promise<void> {
  const before = row.health as NumberHealth | null
  const at = askedAt ? { health_at: askedAt } : {}
  await changeOfficial(ctx, { health: JSON.stringify(health), ...at })
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
