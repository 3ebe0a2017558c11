/**
 * Claims review requests before they are sent. A claim stores the message to send; its text is built when it is sent. One
 * message asks about all items of an order that are due at the same time.
 */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import { outbox } from '#operations/messaging/index'
import { isAmong, metering } from '#operations/store/index'
import { snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import type { ReviewSettings } from '../settings/schema.ts'
import { areRequestsOn, findSettings } from '../settings/settings.ts'
import {
  type Candidate,
  type Channel,
  type EligibilityData,
  findContactSkipReason,
  findSkipReason,
  findSkipReasons,
  loadEligibilityData,
} from './eligibility.ts'
import type { SkipReason } from './skip-reasons.ts'

/**
 * Serializes the claims of a store. Otherwise concurrent claims might both ask a person about a product within 90 days.
 */
const lockRequests = async (tx: Context): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`review-requests:${tx.store.id}`}, 0))`.execute(
    tx.db,
  )
}

const columns = [
  'id',
  'order_id',
  'order_number',
  'order_item_id',
  'product_id',
  'product_name',
  'customer_name',
  'customer_email',
  'customer_phone',
  'phone_key',
  'channel',
  'status',
  'scheduled_at',
  'next_reminder_at',
  'message_id',
] as const

const lockedRows = (tx: Context, ids: readonly string[]) =>
  tx.db
    .selectFrom('review_dispatches')
    .select(columns)
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
type DispatchRow = Awaited<ReturnType<typeof lockedRows>>[number]

export type ClaimReason =
  /** The scheduled time of a first request has come. */
  | 'due'
  /** The time of the next reminder has come. */
  | 'reminder'
  /** The merchant sends the request manually, which is possible even while requests are off. */
  | 'now'

export interface Claims {
  /** Ids of the messages to dispatch. */
  messages: string[]
  /** Ids of the dispatches (requests for one item each) that these messages are about. */
  claimed: string[]
  /** Why dispatches were skipped, by id. A dispatch whose status has changed meanwhile is neither claimed nor skipped. */
  skipped: Map<string, SkipReason>
}

/**
 * Claims dispatches in the caller's transaction. Eligible ones get a message, the others a skip reason. If the quota is
 * too small, it throws for the claim reason `now`; for the others, messages are sent by email where possible.
 */
export async function claim(
  tx: Context,
  ids: readonly string[],
  claimReason: ClaimReason,
  deletedProducts: ReadonlySet<string>,
): Promise<Claims> {
  await lockRequests(tx)
  const now = tx.now()
  const rows = (await lockedRows(tx, ids)).filter((row) => isClaimable(row, claimReason, now))
  if (rows.length === 0) return { messages: [], claimed: [], skipped: new Map() }
  const { settings } = await findSettings(tx)
  const candidates = rows.map(toCandidate)
  const eligibility = await loadEligibilityData(tx, candidates, settings, deletedProducts)
  const isOff =
    claimReason === 'due' ? !areRequestsOn(settings) : claimReason === 'reminder' && !areRemindersOn(settings)
  const skipped = new Map<string, SkipReason>()
  const skipReasons = findSkipReasons(candidates, eligibility)
  const eligible = rows.filter((row, at) => {
    const reason = isOff ? 'requests-disabled' : skipReasons.get(candidates[at]!)
    if (reason) skipped.set(row.id, reason)
    return !reason
  })
  const groups = await reserveQuota(
    tx,
    groupIntoMessages(eligible, claimReason),
    claimReason,
    eligibility,
    skipped,
  )
  await writeSkipped(tx, skipped, claimReason)
  const messages = await writeMessages(tx, groups, claimReason)
  return { messages, claimed: groups.flatMap(({ rows: each }) => each.map((row) => row.id)), skipped }
}

/**
 * Why a message that is still waiting should no longer be sent, or null. Either requests are off, which does not matter
 * for a message that the merchant sends manually, or each of its requests has a skip reason. Whether a product was deleted
 * is read from the catalog cache.
 */
export async function findMessageSkipReason(ctx: Context, messageId: string): Promise<SkipReason | null> {
  const message = await ctx.db
    .selectFrom('review_messages')
    .select(['kind', 'number', 'created_at'])
    .where('id', '=', messageId)
    .executeTakeFirstOrThrow()
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select(columns)
    .where('message_id', '=', messageId)
    .orderBy('id')
    .execute()
  const known = await snapshots.find(
    ctx,
    rows.map((row) => row.product_id),
  )
  const deleted = rows.map((row) => row.product_id).filter((id) => known.get(id)?.exists === false)
  const { settings } = await findSettings(ctx)
  // A first message that was created before its scheduled time, or that is a repetition, was sent manually.
  const isByHand =
    message.kind === 'first' &&
    (message.number > 1 || rows.some((row) => row.scheduled_at > message.created_at))
  const isOff = message.kind === 'reminder' ? !areRemindersOn(settings) : !areRequestsOn(settings)
  if (isOff && !isByHand) return 'requests-disabled'
  const eligibility = await loadEligibilityData(ctx, rows.map(toCandidate), settings, new Set(deleted))
  const skipReasons = rows.map((row) => findSkipReason(toCandidate(row), eligibility))
  return skipReasons.every((each) => each !== null) ? (skipReasons[0] ?? null) : null
}

const areRemindersOn = (settings: ReviewSettings): boolean =>
  areRequestsOn(settings) && settings.reminder.isEnabled

function isClaimable(row: DispatchRow, claimReason: ClaimReason, now: Date): boolean {
  if (claimReason === 'due') return row.status === 'scheduled' && row.scheduled_at <= now
  if (claimReason === 'now') return row.status === 'scheduled' || row.status === 'failed'
  return row.status === 'sent' && row.next_reminder_at !== null && row.next_reminder_at <= now
}

const toCandidate = (row: DispatchRow): Candidate => ({
  id: row.id,
  orderId: row.order_id,
  orderItemId: row.order_item_id,
  productId: row.product_id,
  channel: row.channel as Channel,
  email: row.customer_email,
  phone: row.customer_phone,
  phoneKey: row.phone_key,
})

interface Group {
  channel: Channel
  rows: DispatchRow[]
  reservationId: string | null
}

/**
 * Groups the requests of an order that have the same time and channel into one message. Sent manually, all times are
 * the same.
 */
function groupIntoMessages(rows: readonly DispatchRow[], claimReason: ClaimReason): Group[] {
  const momentOf = (row: DispatchRow): string => {
    if (claimReason === 'now') return ''
    return (claimReason === 'due' ? row.scheduled_at : row.next_reminder_at!).toISOString()
  }
  const byMessage = Map.groupBy(rows, (row) => [row.order_id, row.channel, momentOf(row)].join('\n'))
  return [...byMessage.values()].map((each) => ({
    channel: each[0]!.channel as Channel,
    rows: each,
    reservationId: null,
  }))
}

/** Reserves a quota unit per message that is not an email. Without quota a message is sent by email, or else skipped. */
async function reserveQuota(
  tx: Context,
  groups: readonly Group[],
  claimReason: ClaimReason,
  eligibility: EligibilityData,
  skipped: Map<string, SkipReason>,
): Promise<Group[]> {
  const messaging = groups.filter(({ channel }) => channel === 'messaging')
  const { reservationId, units } =
    claimReason === 'now'
      ? await reserveOrThrow(tx, messaging.length)
      : await outbox.reserveUpTo(tx, messaging.length, 'review-request')
  const served = new Set(messaging.slice(0, units))
  return groups.flatMap((group): Group[] => {
    if (group.channel === 'email') return [group]
    if (served.has(group)) return [{ ...group, reservationId }]
    const [{ customer_email: email, customer_phone: phone, phone_key: phoneKey }] = group.rows as [
      DispatchRow,
    ]
    if (!findContactSkipReason({ channel: 'email', email, phone, phoneKey }, eligibility)) {
      return [{ ...group, channel: 'email' }]
    }
    for (const row of group.rows) skipped.set(row.id, 'quota')
    return []
  })
}

/** Reserves quota units. Throws if the quota is too small. */
const reserveOrThrow = async (tx: Context, units: number) => ({
  reservationId: units === 0 ? null : await metering.reserve(tx, units, 'review-request'),
  units,
})

/**
 * Writes the skip reasons. For a skipped reminder it only clears the time of the next reminder; the request keeps its
 * status.
 */
async function writeSkipped(
  tx: Context,
  skipped: ReadonlyMap<string, SkipReason>,
  claimReason: ClaimReason,
): Promise<void> {
  const now = tx.now()
  for (const [reason, each] of Map.groupBy(skipped, ([, reason_]) => reason_)) {
    const ids = each.map(([id]) => id)
    await tx.db
      .updateTable('review_dispatches')
      .set(
        claimReason === 'reminder'
          ? { next_reminder_at: null, updated_at: now }
          : { status: 'skipped', reason, updated_at: now },
      )
      .where(isAmong('id', ids, 'uuid'))
      .execute()
  }
}

async function writeMessages(
  tx: Context,
  groups: readonly Group[],
  claimReason: ClaimReason,
): Promise<string[]> {
  if (groups.length === 0) return []
  const numbers = await findMessageNumbers(tx, groups)
  const messages: NewRow<'review_messages'>[] = []
  const now = tx.now()
  for (const { channel, rows, reservationId } of groups) {
    const first = rows[0]!
    const before = first.message_id === null ? 0 : (numbers.get(first.message_id) ?? 0)
    // The first message has the id of its first request. Later messages have new ids, so that each of them is counted.
    const id = before === 0 ? first.id : tx.newId()
    messages.push({
      id,
      number: before + 1,
      kind: claimReason === 'reminder' ? 'reminder' : 'first',
      order_id: first.order_id,
      channel,
      state: 'sending',
      email: channel === 'email' ? first.customer_email : null,
      phone: channel === 'messaging' ? first.customer_phone : null,
      reservation_id: reservationId,
      next_try_at: now,
      created_at: now,
      updated_at: now,
    })
    await tx.db
      .updateTable('review_dispatches')
      .set({
        ...(claimReason === 'reminder' ? {} : { status: 'sending', reason: null, channel }),
        next_reminder_at: null,
        message_id: id,
        updated_at: now,
      })
      .where(
        isAmong(
          'id',
          rows.map((each) => each.id),
          'uuid',
        ),
      )
      .execute()
  }
  await tx.db.insertInto('review_messages').values(messages).execute()
  return messages.map((message) => message.id)
}

async function findMessageNumbers(tx: Context, groups: readonly Group[]): Promise<Map<string, number>> {
  const ids = groups.flatMap(({ rows }) => rows[0]!.message_id ?? [])
  const rows = await tx.db
    .selectFrom('review_messages')
    .select(['id', 'number'])
    .where(isAmong('id', ids, 'uuid'))
    .execute()
  return new Map(rows.map((row) => [row.id, row.number]))
}
