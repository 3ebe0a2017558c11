/**
 * Requests on their way: what leaves is claimed in the database first, as one message for the items of an order, with
 * the text it will always have.
 */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import { outbox, sending, templates } from '#operations/messaging/door'
import { isAmong, metering } from '#operations/store/door'
import { snapshots } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { inWords } from '#runtime/values/wording'
import { type ReviewSettings, reviewWords } from '../settings/schema.ts'
import { asksForReviews, findSettings } from '../settings/settings.ts'
import type { SkipReason } from './codes.ts'
import {
  type Candidate,
  type Channel,
  contactObjection,
  type Facts,
  factsOf,
  objectionsTo,
  objectionTo,
} from './eligibility.ts'
import { newToken, reviewUrl, type TokenRow } from './links.ts'
import { type About, requestMail, requestMessage } from './texts.ts'
import { wayOut } from './unsubscribes.ts'

/** What is claimed of a store at once takes turns: neither a request nor its 90 days are looked at by two. */
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

export type Why =
  /** Its time has come. */
  | 'due'
  | 'reminder'
  /** The merchant wants it now, with requests off too. */
  | 'now'

export interface Claims {
  /** Ids of the messages to hand over. */
  messages: string[]
  /** Dispatches that are in one of them. */
  claimed: string[]
  /** Dispatches that are not, with the reason; those whose status has moved meanwhile have none. */
  left: Map<string, SkipReason>
}

/**
 * Claims these dispatches in the caller's transaction: eligible ones get their message, the others their reason.
 * `now` throws where the quota does not cover the messages; otherwise they go by email where that is possible.
 */
export async function claim(
  tx: Context,
  ids: readonly string[],
  why: Why,
  goneProducts: ReadonlySet<string>,
): Promise<Claims> {
  await lockRequests(tx)
  const now = tx.now()
  const rows = (await lockedRows(tx, ids)).filter((row) => isWaiting(row, why, now))
  if (rows.length === 0) return { messages: [], claimed: [], left: new Map() }
  const { settings } = await findSettings(tx)
  const candidates = rows.map(candidateOf)
  const facts = await factsOf(tx, candidates, settings, goneProducts)
  const isOff = why === 'due' ? !asksForReviews(settings) : why === 'reminder' && !reminds(settings)
  const left = new Map<string, SkipReason>()
  const objections = objectionsTo(candidates, facts)
  const eligible = rows.filter((row, at) => {
    const reason = isOff ? 'requests-disabled' : objections.get(candidates[at]!)
    if (reason) left.set(row.id, reason)
    return !reason
  })
  const groups = await withUnits(tx, groupsOf(eligible, why), why, facts, left)
  await writeLeft(tx, left, why)
  const messages = await writeMessages(tx, groups, settings, why)
  return { messages, claimed: groups.flatMap(({ rows: each }) => each.map((row) => row.id)), left }
}

/**
 * Why a message that waited should not leave any more, or null: requests are off, but for one that was sent by hand,
 * or something speaks against each of its requests by now. Products as the mirror knows them.
 */
export async function objectionToMessage(ctx: Context, messageId: string): Promise<SkipReason | null> {
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
  const gone = rows.map((row) => row.product_id).filter((id) => known.get(id)?.exists === false)
  const { settings } = await findSettings(ctx)
  // By hand: before their time, or again.
  const isByHand =
    message.kind === 'first' &&
    (message.number > 1 || rows.some((row) => row.scheduled_at > message.created_at))
  const isOff = message.kind === 'reminder' ? !reminds(settings) : !asksForReviews(settings)
  if (isOff && !isByHand) return 'requests-disabled'
  const facts = await factsOf(ctx, rows.map(candidateOf), settings, new Set(gone))
  const objections = rows.map((row) => objectionTo(candidateOf(row), facts))
  return objections.every((each) => each !== null) ? (objections[0] ?? null) : null
}

const reminds = (settings: ReviewSettings): boolean => asksForReviews(settings) && settings.reminder.isEnabled

function isWaiting(row: DispatchRow, why: Why, now: Date): boolean {
  if (why === 'due') return row.status === 'scheduled' && row.scheduled_at <= now
  if (why === 'now') return row.status === 'scheduled' || row.status === 'failed'
  return row.status === 'sent' && row.next_reminder_at !== null && row.next_reminder_at <= now
}

const candidateOf = (row: DispatchRow): Candidate => ({
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

/** One message for what leaves of an order at the same moment on one channel. */
function groupsOf(rows: readonly DispatchRow[], why: Why): Group[] {
  const momentOf = (row: DispatchRow): string => {
    if (why === 'now') return ''
    return (why === 'due' ? row.scheduled_at : row.next_reminder_at!).toISOString()
  }
  const byMessage = Map.groupBy(rows, (row) => [row.order_id, row.channel, momentOf(row)].join('\n'))
  return [...byMessage.values()].map((each) => ({
    channel: each[0]!.channel as Channel,
    rows: each,
    reservationId: null,
  }))
}

/** A unit of the quota for each message; where there is none left, an email, else nothing. */
async function withUnits(
  tx: Context,
  groups: readonly Group[],
  why: Why,
  facts: Facts,
  left: Map<string, SkipReason>,
): Promise<Group[]> {
  const messaging = groups.filter(({ channel }) => channel === 'messaging')
  const { reservationId, units } =
    why === 'now'
      ? await reserveAll(tx, messaging.length)
      : await outbox.reserveUpTo(tx, messaging.length, 'review-request')
  const served = new Set(messaging.slice(0, units))
  return groups.flatMap((group): Group[] => {
    if (group.channel === 'email') return [group]
    if (served.has(group)) return [{ ...group, reservationId }]
    const [{ customer_email: email, customer_phone: phone, phone_key: phoneKey }] = group.rows as [
      DispatchRow,
    ]
    if (!contactObjection({ channel: 'email', email, phone, phoneKey }, facts)) {
      return [{ ...group, channel: 'email' }]
    }
    for (const row of group.rows) left.set(row.id, 'quota')
    return []
  })
}

/** Throws where the quota does not cover them. */
const reserveAll = async (tx: Context, units: number) => ({
  reservationId: units === 0 ? null : await metering.reserve(tx, units, 'review-request'),
  units,
})

/** A reminder that may not leave changes nothing but that none follows. */
async function writeLeft(tx: Context, left: ReadonlyMap<string, SkipReason>, why: Why): Promise<void> {
  const now = tx.now()
  for (const [reason, each] of Map.groupBy(left, ([, why_]) => why_)) {
    const ids = each.map(([id]) => id)
    await tx.db
      .updateTable('review_dispatches')
      .set(
        why === 'reminder'
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
  settings: ReviewSettings,
  why: Why,
): Promise<string[]> {
  if (groups.length === 0) return []
  const template = await templateFor(tx, settings)
  const numbers = await numbersBefore(tx, groups)
  const messages: NewRow<'review_messages'>[] = []
  const tokens: TokenRow[] = []
  const now = tx.now()
  for (const { channel, rows, reservationId } of groups) {
    const first = rows[0]!
    const before = first.message_id === null ? 0 : (numbers.get(first.message_id) ?? 0)
    // The first message of a request has its id: later ones need their own, to be counted.
    const id = before === 0 ? first.id : tx.newId()
    const { token, row } = newToken(tx, first.order_id)
    tokens.push(row)
    messages.push({
      id,
      number: before + 1,
      kind: why === 'reminder' ? 'reminder' : 'first',
      order_id: first.order_id,
      channel,
      state: 'sending',
      email: channel === 'email' ? first.customer_email : null,
      phone: channel === 'messaging' ? first.customer_phone : null,
      content: JSON.stringify(contentOf(tx, channel, aboutOf(tx, rows, token), settings, template, first)),
      reservation_id: reservationId,
      next_try_at: now,
      created_at: now,
      updated_at: now,
    })
    await tx.db
      .updateTable('review_dispatches')
      .set({
        ...(why === 'reminder' ? {} : { status: 'sending', reason: null, channel }),
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
  await tx.db.insertInto('review_tokens').values(tokens).execute()
  await tx.db.insertInto('review_messages').values(messages).execute()
  return messages.map((message) => message.id)
}

async function numbersBefore(tx: Context, groups: readonly Group[]): Promise<Map<string, number>> {
  const ids = groups.flatMap(({ rows }) => rows[0]!.message_id ?? [])
  const rows = await tx.db
    .selectFrom('review_messages')
    .select(['id', 'number'])
    .where(isAmong('id', ids, 'uuid'))
    .execute()
  return new Map(rows.map((row) => [row.id, row.number]))
}

/** Only the official number sends templates. */
async function templateFor(tx: Context, { message }: ReviewSettings): Promise<templates.Template | null> {
  const connection = await sending.selected(tx)
  if (connection?.type !== 'official' || message.officialapiTemplateId === null) return null
  return templates.get(tx, message.officialapiTemplateId)
}

const aboutOf = (tx: Context, rows: readonly DispatchRow[], token: string): About => ({
  customerName: rows[0]!.customer_name,
  orderNumber: rows[0]!.order_number,
  productNames: rows.map((row) => row.product_name),
  storeName: tx.store.name,
  locale: tx.store.locale,
  reviewUrl: reviewUrl(tx, token),
  token,
})

function contentOf(
  tx: Context,
  channel: Channel,
  about: About,
  given: ReviewSettings,
  template: templates.Template | null,
  { customer_email: email }: DispatchRow,
): outbox.Said {
  const settings = inWords<ReviewSettings>(given, reviewWords, tx.store.locale)
  if (channel === 'messaging') {
    return { channel, ...requestMessage(settings, about, template, templates.render) }
  }
  const out = wayOut(tx, email!)
  return { channel, ...requestMail(settings, about, out.link), headers: out.headers }
}
