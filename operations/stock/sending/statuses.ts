/** What the network reports of alerts to phones, applied in bulk. */
import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import { optOuts } from '#operations/messaging/door'
import { attribution, isAmong, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { reasonOf } from './deliver.ts'
import { commitUnits, touchIdOf } from './record.ts'
import { goOn } from './waves.ts'

interface AlertRow {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  phone: string | null
  click_token: string
  attempt: number
  status: string
  reason: string | null
  provider_message_id: string | null
  reservation_id: string | null
  sent_at: Date | null
  delivered_at: Date | null
  failed_at: Date | null
}

/** In the transaction that applies the events; those of other attempts, and of what is not there, are passed over. */
export async function applyStatuses(ctx: Context, events: sending.DeliveryStatus[]): Promise<void> {
  const ids = [...new Set(events.map((event) => event.messageId).filter(isId))]
  if (ids.length === 0) return
  const rows = new Map((await lockRows(ctx, ids)).map((row) => [row.id, row]))
  const before = new Map([...rows].map(([id, row]) => [id, { ...row }]))
  const stopped: string[] = []
  for (const event of events) {
    const row = rows.get(event.messageId)
    if (!row || event.attempt !== row.attempt) continue
    apply(row, event)
    if (event.failureCode === 'recipient-stopped' && row.phone !== null) stopped.push(row.phone)
  }
  const changed = [...rows.values()].filter(
    (row) => JSON.stringify(row) !== JSON.stringify(before.get(row.id)),
  )
  if (changed.length === 0) return
  await write(ctx, changed)
  await countProved(ctx, changed, before)
  const failed = changed.filter((row) => row.status === 'failed' && before.get(row.id)!.status !== 'failed')
  await attribution.voidTouches(ctx, failed.map(touchIdOf))
  for (const phone of stopped) await optOuts.add(ctx, phone, 'provider')
  const ended = changed.filter((row) => before.get(row.id)!.status === 'sending')
  await goOn(
    ctx,
    ended.map((row) => row.variant_id),
  )
}

const lockRows = (ctx: Context, ids: readonly string[]): Promise<AlertRow[]> =>
  ctx.db
    .selectFrom('stock_subscriptions')
    .select([
      'id',
      'product_id',
      'variant_id',
      'product_name',
      'phone',
      'click_token',
      'attempt',
      'status',
      'reason',
      'provider_message_id',
      'reservation_id',
      'sent_at',
      'delivered_at',
      'failed_at',
    ])
    .where(isAmong('id', ids, 'uuid'))
    .where('channel', '=', 'phone')
    .where('status', 'in', ['sending', 'sent', 'failed'])
    .orderBy('id')
    .forUpdate()
    .execute()

/** Delivered wins over failed, whichever comes first; any word of it proves that it left. */
function apply(row: AlertRow, event: sending.DeliveryStatus): void {
  const at = row.sent_at && event.at < row.sent_at ? row.sent_at : event.at
  const isDelivered = event.status === 'delivered' || event.status === 'read'
  // On its way, or given up as lost.
  const wasUnproved = row.sent_at === null
  row.provider_message_id ??= event.providerMessageId
  row.sent_at ??= at
  if (isDelivered) row.delivered_at ??= at
  if (row.delivered_at === null && event.status === 'failed') {
    row.status = 'failed'
    row.reason = event.failureCode === null ? 'undelivered' : reasonOf(event.failureCode)
    row.failed_at ??= at
  } else if (wasUnproved || isDelivered) {
    row.status = 'sent'
    row.reason = null
    row.failed_at = null
  }
}

const changeTypes = {
  id: 'uuid',
  status: 'text',
  reason: 'text',
  provider_message_id: 'text',
  sent_at: 'timestamptz',
  delivered_at: 'timestamptz',
  failed_at: 'timestamptz',
} as const

async function write(ctx: Context, rows: readonly AlertRow[]): Promise<void> {
  await ctx.db
    .updateTable('stock_subscriptions as s')
    .from(recordset(changeTypes, rows as never))
    .set({
      status: sql<string>`r.status`,
      reason: sql<string>`r.reason`,
      provider_message_id: sql<string>`r.provider_message_id`,
      sent_at: sql<Date>`r.sent_at`,
      delivered_at: sql<Date>`r.delivered_at`,
      failed_at: sql<Date>`r.failed_at`,
      claim_id: null,
      claimed_at: null,
      called_at: null,
      updated_at: ctx.now(),
    })
    .where(sql<boolean>`s.id = r.id`)
    .where(
      isAmong(
        's.id',
        rows.map((row) => row.id),
        'uuid',
      ),
    )
    .execute()
}

/** What was still `sending`, or given up as lost, has left after all: it counts and may bring orders. */
async function countProved(
  ctx: Context,
  changed: readonly AlertRow[],
  before: ReadonlyMap<string, AlertRow>,
): Promise<void> {
  const proved = changed.filter((row) => before.get(row.id)!.sent_at === null)
  await commitUnits(
    ctx,
    proved.map((row) => ({
      alert: row,
      holdsUnit: before.get(row.id)!.status === 'sending',
      sentAt: row.sent_at!,
      isKnown: true,
      providerMessageId: row.provider_message_id,
    })),
  )
}
