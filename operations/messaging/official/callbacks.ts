/** Applies the provider's callbacks about the official number and its account (rule 7). */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { type events, notify } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { officialRevalidate } from '../handles.ts'
import type {
  NumberAccountData,
  NumberHealth,
  NumberHealthData,
  NumberNameData,
  NumberWarningData,
} from '../provider/number-port.ts'
import {
  lockOfficial,
  markConnected,
  markError,
  type OfficialNumberRow,
  saveHealth,
  updateOfficial,
} from './state.ts'

type StoredEvent = events.StoredEvent
type AccountSubject = { account: string; phone: string | null }

/**
 * Maps event ids to stores, for events about accounts. If several numbers share an account, the event goes to the store
 * of the number it names. If it names none, it goes to the store that connected last, and a job revalidates the numbers
 * of the other stores. An unknown account is left out: its connection may not be committed yet.
 */
export async function findAccountStores(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<Map<string, string>> {
  if (stored.length === 0) return new Map()
  const accounts = stored.map((event) => toSubject(event).account)
  const rows = await ctx.root
    .selectFrom('messaging_connections')
    .select(['account_id', 'phone_key', 'store_id'])
    .where('type', '=', 'official')
    .where('account_id', '=', sql<string>`any(${accounts}::text[])`)
    .where(isInStores('store_id', await findStoreIds(ctx.root, 'messaging-account', accounts)))
    .orderBy('connected_at', (order) => order.desc().nullsLast())
    .execute()
  const asking = new Set<string>()
  const stores = new Map<string, string>()
  for (const event of stored) {
    const { account, phone } = toSubject(event)
    const ofAccount = rows.filter((row) => row.account_id === account)
    const found = ofAccount.find((row) => !phone || row.phone_key === phoneKey(phone)) ?? ofAccount[0]
    if (!found) continue
    stores.set(event.id, found.store_id)
    if (phone) continue
    for (const { store_id: other } of ofAccount) if (other !== found.store_id) asking.add(other)
  }
  for (const storeId of asking) await (await ctx.forStore(storeId))?.queue(officialRevalidate, {})
  return stores
}

const toSubject = (event: StoredEvent): AccountSubject => event.data as AccountSubject

/** Calls `apply` for each event about the current number, in the order they happened. */
async function applyEach<D extends AccountSubject>(
  ctx: Context,
  stored: StoredEvent[],
  apply: (row: OfficialNumberRow, data: D) => Promise<void>,
): Promise<void> {
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  for (const event of inOrder) {
    const data = event.data as D
    // Read for each event, as the previous one may have changed it.
    const row = await lockOfficial(ctx)
    if (!row?.credentials || row.account_id !== data.account) continue
    if (data.phone && row.phone_key && phoneKey(data.phone) !== row.phone_key) continue
    await apply(row, data)
  }
}

const emptyHealth: NumberHealth = {
  qualityRating: 'unknown',
  numberStatus: 'connected',
  messagingLimitTier: 'tier-250',
  throughput: 80,
}

export const applyNumberHealth = (ctx: Context, stored: StoredEvent[]): Promise<void> =>
  applyEach<NumberHealthData>(ctx, stored, async (row, data) => {
    const before = (row.health as NumberHealth | null) ?? emptyHealth
    await saveHealth(
      ctx,
      row,
      {
        ...before,
        qualityRating: data.qualityRating ?? before.qualityRating,
        numberStatus: data.numberStatus ?? before.numberStatus,
        messagingLimitTier: data.messagingLimitTier ?? before.messagingLimitTier,
        throughput: data.throughput ?? before.throughput,
      },
      null,
    )
    const { phone, display_name: displayName } = row
    if (data.numberStatus === 'banned') await markError(ctx, row, 'account-restricted')
    else if (data.numberStatus === 'connected' && row.status === 'verifying') {
      await markConnected(ctx, row, { phone, displayName })
    }
  })

export const applyNumberName = (ctx: Context, stored: StoredEvent[]): Promise<void> =>
  applyEach<NumberNameData>(ctx, stored, async (row, { status, displayName }) => {
    const name = status === 'approved' && displayName ? displayName : row.display_name
    await updateOfficial(ctx, { display_name_status: status, display_name: name })
    if (row.status !== 'verifying') return
    if (status === 'declined') await markError(ctx, row, 'display-name-declined')
    if (status === 'approved') await markConnected(ctx, row, { phone: row.phone, displayName: name })
  })

export const applyNumberAccount = (ctx: Context, stored: StoredEvent[]): Promise<void> =>
  applyEach<NumberAccountData>(ctx, stored, async (row, { issue }) => {
    if (issue) await markError(ctx, row, issue)
    // The account recovered; the revalidation asks the provider whether the number did too.
    else await ctx.queue(officialRevalidate, {})
  })

/** Notifies the merchant of a violation and of a scheduled ban, once each. Neither stops sending yet. */
export const notifyNumberWarnings = async (ctx: Context, stored: StoredEvent[]): Promise<void> => {
  for (const event of stored) {
    await applyEach<NumberWarningData>(ctx, [event], (_row, { warning, detail }) =>
      notify(ctx, {
        type: 'official-number-warning',
        level: 'warning',
        title:
          warning === 'violation'
            ? 'WhatsApp reports a violation of its policies'
            : `WhatsApp will disable your account${detail ? ` on ${detail}` : ''}`,
        message: `${warning === 'violation' && detail ? `It names ${detail}. ` : ''}Look at WhatsApp Manager, Account quality: correct it, or ask for a review, before messages are stopped.`,
        dedupeKey: `official-number-warning:${event.key}`,
      }),
    )
  }
}
