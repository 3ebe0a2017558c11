/** Sends requests manually, before their time or after a failure. */

import { isAmong } from '#operations/store/index'
import type { Context, Queued } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { ItemResult } from '../bulk-schema.ts'
import { reviewDispatchSend } from '../handles.ts'
import { claim } from './claims.ts'
import { parseTargets, type Targets, toItemResult } from './dispatches.ts'
import { findDeletedProducts } from './run.ts'
import type { SkipReason } from './skip-reasons.ts'

const reasons: Readonly<Record<SkipReason, string>> = {
  'requests-disabled': 'requests are turned off',
  quota: 'the messages of this cycle are used up',
  'no-contact': 'the customer left no contact',
  'opted-out': 'the customer does not want messages',
  refunded: 'the item was refunded',
  'order-cancelled': 'the order was cancelled',
  'already-reviewed': 'the customer has reviewed the product',
  'recent-request': 'the customer was asked about the product in the last 90 days',
  'product-gone': 'the product is not in the catalog any more',
}

export interface SentNow extends Queued {
  queued: number
  failed: number
  data: ItemResult[]
}

/**
 * Claims scheduled and failed requests and queues the job that sends them. Skips requests that are not eligible. Refuses
 * if all were skipped. If the quota is too small, it refuses and changes nothing. Do not call it inside a transaction,
 * because it calls the platform.
 */
export async function sendNow(ctx: Context, targets: Targets): Promise<SentNow> {
  const ids = parseTargets(targets)
  const rows = await selectSendable(ctx, ids)
  const deleted = await findDeletedProducts(
    ctx,
    rows.map((row) => row.product_id),
  )
  const outcome = await ctx.transaction(async (tx) => {
    const { claimed, skipped } = await claim(
      tx,
      rows.map((row) => row.id),
      'now',
      deleted,
    )
    const job = claimed.length > 0 ? await tx.queue(reviewDispatchSend, {}) : null
    return { claimed: new Set(claimed), skipped, job, statuses: await findStatuses(tx, ids ?? []) }
  })
  const { claimed, skipped, job, statuses } = outcome
  if (!job) throw refuse('conflict', explainNoneSent(ids, statuses, skipped))
  const data = (ids ?? []).map((id): ItemResult => {
    if (claimed.has(id)) return { id, ok: true, status: 'sending', error: null }
    const reason = skipped.get(id)
    if (reason === undefined)
      return toItemResult(id, statuses.get(id), 'only scheduled and failed ones are sent')
    const error = { code: 'conflict', message: `It is not sent: ${reasons[reason]}` }
    return { id, ok: false, status: 'skipped', error }
  })
  const failed = ids ? ids.length - claimed.size : skipped.size
  return { ...job, queued: claimed.size, failed, data }
}

function selectSendable(
  ctx: Context,
  ids: readonly string[] | null,
): Promise<{ id: string; product_id: string }[]> {
  const rows = ctx.db.selectFrom('review_dispatches').select(['id', 'product_id'])
  if (ids === null) return rows.where('status', '=', 'scheduled').execute()
  return rows
    .where(isAmong('id', ids, 'uuid'))
    .where('status', 'in', ['scheduled', 'failed'])
    .execute()
}

async function findStatuses(tx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.db
    .selectFrom('review_dispatches')
    .select(['id', 'status'])
    .where(isAmong('id', ids, 'uuid'))
    .execute()
  return new Map(rows.map((row) => [row.id, row.status]))
}

function explainNoneSent(
  ids: readonly string[] | null,
  statuses: ReadonlyMap<string, string>,
  skipped: ReadonlyMap<string, SkipReason>,
): string {
  const [reason] = skipped.values()
  if (reason) return `None of them could be sent: ${reasons[reason]}`
  if (ids === null) return 'No request is scheduled'
  const [status] = statuses.values()
  return status ? `None of them could be sent: the first is ${status}` : 'No id is a request of this store'
}
