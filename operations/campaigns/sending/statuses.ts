/** What the provider reports of campaign messages, applied in bulk (rule 4). */
import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import { optOuts } from '#operations/messaging/door'
import { attribution } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { isId } from '#runtime/values/ids'
import { type FailureCode, failureCode } from '../schema.ts'
import { commitUnits } from './units.ts'

interface MessageRow {
  id: string
  campaign_id: string
  phone: string
  status: string
  generation: number
  failure_code: FailureCode | null
  failure_message: string | null
  provider_message_id: string | null
  reservation_id: string | null
  unit: string
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
}

interface CampaignRow {
  id: string
  name: string
  status: string
}

/** Higher wins, never back. `sending` is before them all: a status proves that the message left. */
const ranks: Record<string, number> = { sending: 0, sent: 1, failed: 2, delivered: 3, read: 4 }

/** In the transaction that applies the events; those of messages that are not there, or of earlier tries, are passed over. */
export async function applyStatuses(ctx: Context, statuses: sending.DeliveryStatus[]): Promise<void> {
  const ids = [...new Set(statuses.map((status) => status.messageId).filter(isId))]
  if (ids.length === 0) return
  const { campaigns, messages } = await lockRows(ctx, ids)
  const before = new Map([...messages].map(([id, row]) => [id, { ...row }]))
  for (const event of [...statuses].sort((a, b) => ranks[a.status]! - ranks[b.status]!)) {
    const message = messages.get(event.messageId)
    if (message && event.attempt === message.generation) apply(message, event)
  }
  const changed = [...messages.values()].filter((row) => !isSame(row, before.get(row.id)!))
  if (changed.length === 0) return
  await writeMessages(ctx, changed)
  await countUnits(ctx, campaigns, changed, before)
  await attribution.voidTouches(
    ctx,
    changed
      .filter((row) => row.status === 'failed' && before.get(row.id)!.status !== 'failed')
      .map((row) => row.id),
  )
  await moveCounters(ctx, campaigns, changed, before)
  for (const row of changed) {
    if (row.failure_code === 'recipient-stopped') {
      await optOuts.add(ctx, row.phone, 'provider', row.campaign_id)
    }
  }
}

/** Campaigns first, as every move of theirs does. */
async function lockRows(
  ctx: Context,
  ids: readonly string[],
): Promise<{ campaigns: Map<string, CampaignRow>; messages: Map<string, MessageRow> }> {
  const campaigns = await ctx.db
    .selectFrom('campaigns')
    .select(['id', 'name', 'status'])
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('campaign_messages as m')
        .select('m.campaign_id')
        .where('m.id', '=', sql<string>`any(${ids}::uuid[])`),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const messages = await ctx.db
    .selectFrom('campaign_messages')
    .select([
      'id',
      'campaign_id',
      'phone',
      'status',
      'generation',
      'failure_code',
      'failure_message',
      'provider_message_id',
      'reservation_id',
      'unit',
      'sent_at',
      'delivered_at',
      'read_at',
      'failed_at',
    ])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('status', 'in', Object.keys(ranks))
    .orderBy('id')
    .forUpdate()
    .execute()
  return {
    campaigns: new Map(campaigns.map((row) => [row.id, row])),
    messages: new Map(messages.map((row) => [row.id, row as MessageRow])),
  }
}

/** Moves one message on by one event; what is not newer fills in missing instants alone. */
function apply(message: MessageRow, event: sending.DeliveryStatus): void {
  const at = message.sent_at && event.at < message.sent_at ? message.sent_at : event.at
  const isForward = ranks[event.status]! > ranks[message.status]!
  message.provider_message_id ??= event.providerMessageId
  if (message.status === 'sending') message.unit = 'committed'
  if (isForward) message.status = event.status
  switch (event.status) {
    case 'sent':
      message.sent_at ??= at
      break
    case 'failed':
      message.sent_at ??= at
      if (!isForward) break
      message.failed_at = at
      message.failure_code = codeOf(event.failureCode)
      message.failure_message = event.failureMessage ?? 'The message did not arrive'
      break
    case 'delivered':
    case 'read':
      message.sent_at ??= at
      message.delivered_at ??= at
      if (event.status === 'read') message.read_at ??= at
      message.failed_at = null
      message.failure_code = null
      message.failure_message = null
  }
}

function codeOf(code: string | null): FailureCode {
  const known = failureCode.safeParse(code ?? 'undelivered')
  return known.success ? known.data : 'provider-error'
}

const isSame = (a: MessageRow, b: MessageRow): boolean => JSON.stringify(a) === JSON.stringify(b)

async function writeMessages(ctx: Context, rows: readonly MessageRow[]): Promise<void> {
  const given = sql<MessageRow>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'r'>(
    sql.raw(
      `r(id uuid, status text, unit text, failure_code text, failure_message text, provider_message_id text,
        sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz)`,
    ),
  )
  await ctx.db
    .updateTable('campaign_messages')
    .from(given)
    .set((eb) => ({
      status: eb.ref('r.status'),
      unit: eb.ref('r.unit'),
      failure_code: eb.ref('r.failure_code'),
      failure_message: eb.ref('r.failure_message'),
      provider_message_id: eb.ref('r.provider_message_id'),
      sent_at: eb.ref('r.sent_at'),
      delivered_at: eb.ref('r.delivered_at'),
      read_at: eb.ref('r.read_at'),
      failed_at: eb.ref('r.failed_at'),
      claim_id: null,
      claimed_at: null,
      called_at: null,
      updated_at: ctx.now(),
    }))
    .whereRef('campaign_messages.id', '=', 'r.id')
    // By the index, whatever the planner's statistics know of a fresh snapshot.
    .where('campaign_messages.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .execute()
}

/** What was still `sending`, or given up as lost, has left after all: it counts and may bring orders. */
async function countUnits(
  ctx: Context,
  campaigns: ReadonlyMap<string, CampaignRow>,
  changed: readonly MessageRow[],
  before: ReadonlyMap<string, MessageRow>,
): Promise<void> {
  const proved = changed.filter((row) => {
    const was = before.get(row.id)!
    return was.status === 'sending' || (was.failure_code === 'unknown-outcome' && row.status !== 'failed')
  })
  await commitUnits(
    ctx,
    proved.map((row) => ({
      id: row.id,
      campaignId: row.campaign_id,
      campaignName: campaigns.get(row.campaign_id)?.name ?? null,
      phone: row.phone,
      generation: row.generation,
      reservationId: row.reservation_id,
      holdsUnit: before.get(row.id)!.status === 'sending',
      providerMessageId: row.provider_message_id,
      sentAt: row.sent_at!,
      isKnown: true,
    })),
  )
}

const countsAs: Record<'pending' | 'sent' | 'delivered' | 'read' | 'failed', readonly string[]> = {
  pending: ['sending'],
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
  read: ['read'],
  failed: ['failed'],
}

/** By the differences, one statement a campaign. */
async function moveCounters(
  ctx: Context,
  campaigns: ReadonlyMap<string, CampaignRow>,
  changed: readonly MessageRow[],
  before: ReadonlyMap<string, MessageRow>,
): Promise<void> {
  for (const campaign of campaigns.values()) {
    const rows = changed.filter((row) => row.campaign_id === campaign.id)
    if (rows.length === 0) continue
    const difference = (counter: keyof typeof countsAs): number => {
      const counts = (row: MessageRow) => (countsAs[counter].includes(row.status) ? 1 : 0)
      return rows.reduce((sum, row) => sum + counts(row) - counts(before.get(row.id)!), 0)
    }
    const proved = rows.filter((row) => before.get(row.id)!.status === 'sending').length
    const failed = difference('failed')
    const isRunning = campaign.status === 'sending'
    await ctx.db
      .updateTable('campaigns')
      .set((eb) => ({
        pending: eb('pending', '+', difference('pending')),
        sent: eb('sent', '+', difference('sent')),
        delivered: eb('delivered', '+', difference('delivered')),
        read: eb('read', '+', difference('read')),
        failed: eb('failed', '+', failed),
        ...(isRunning
          ? {
              attempted_since_start: eb('attempted_since_start', '+', proved),
              failed_since_start: greatest<number>(sql`failed_since_start + ${failed}::int`, sql`0`),
            }
          : {}),
        updated_at: ctx.now(),
      }))
      .where('id', '=', campaign.id)
      .execute()
  }
}
