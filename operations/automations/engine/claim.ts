/** Decides about due executions and claims them, in one transaction (rule 5). */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import { isAmong, notify, ordersSync } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { type CacheProgress, isStale } from '../deciding/cache-freshness.ts'
import { type Decision, decide } from '../deciding/decide.ts'
import { logHolds } from '../deciding/hold-log.ts'
import { readRows } from '../deciding/rows.ts'
import { cartsSync } from '../handles.ts'
import { describeReason } from '../reasons.ts'
import { type PendingCoupon, storeCoupons } from './coupons.ts'
import type { ClaimedMessage } from './outbox-source.ts'
import { takeRateSlots } from './rate-slots.ts'
import { queueAdvance } from './schedule.ts'
import { isRoute, readDecisionContext, type SendContext, type SendRoute } from './send-context.ts'
import { endFinished, toDecisionRow, writeRows, writeStepLog } from './write-decisions.ts'

type SendDecision = Extract<Decision, { kind: 'send' }>

/** Messages sent together through one connection. */
export interface Claim {
  id: string
  route: SendRoute
  messages: ClaimedMessage[]
}

export interface Batch {
  /** How many executions were decided. Excludes those blocked by another execution to the same phone. */
  seen: number
  claims: Claim[]
  coupons: PendingCoupon[]
  /** The next time at which a number without free rate slots has some; null if every message got a slot. */
  nextSlotAt: Date | null
}

const batchSize = 200

/**
 * Decides about all due executions, or only about `executionId`, which a member sends by hand or with the operation
 * `run`. Read `sendContext` just before, outside the transaction.
 */
export async function claimDue(
  ctx: Context,
  sendContext: SendContext,
  executionId: string | null,
): Promise<Batch> {
  return ctx.transaction(async (tx) => {
    await lockAutomations(tx)
    const ids = executionId === null ? await lockDue(tx) : await lockClaimed(tx, executionId)
    const rows = await readRows(tx, ids)
    const context = await readDecisionContext(tx, sendContext, rows)
    const all = rows.map((row) => decide(row, context))
    if (all.some((decision) => decision.kind === 'held')) await syncStale(tx, context.cacheProgress)
    const behind = await findBlocked(tx, all)
    let decisions = skipWithinCooldown(all.filter((decision) => !behind.has(decision)))
    const routes = [sendContext.selected, sendContext.official].filter(isRoute)
    const { waiting, nextSlotAt } = await reserveSlots(tx, decisions, routes)
    decisions = await reserveUnits(
      tx,
      decisions.filter((decision) => !waiting.has(decision)),
    )
    const claims = buildClaims(tx, decisions, routes)
    await writeDecisions(tx, decisions, claims)
    const coupons = await storeCoupons(
      tx,
      decisions.filter((decision) => decision.kind === 'coupon'),
    )
    return { seen: rows.length - behind.size, claims, coupons, nextSlotAt }
  })
}

/** Syncs a stale cache now: the schedule syncs the caches of a quiet shop hourly. The sync releases what is held. */
async function syncStale(tx: Context, progress: CacheProgress | null): Promise<void> {
  if (!progress) return
  if (isStale(progress.orders, tx.now())) await tx.queue(ordersSync, {})
  if (isStale(progress.carts, tx.now())) await tx.queue(cartsSync, {})
}

/** Serialises the decisions of a store, so that no cooldown is bypassed and no rate slot is used twice. */
export const lockAutomations = async (tx: Context): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`automations:${tx.store.id}`}, 0))`.execute(tx.db)
}

async function lockDue(tx: Context): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('status', '=', sql.lit('pending'))
    .where('scheduled_at', '<=', tx.now())
    .orderBy('scheduled_at')
    .limit(batchSize)
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => row.id)
}

async function lockClaimed(tx: Context, id: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('id', '=', id)
    // An execution sent by hand is pending; the operation `run` has already set `sending`. One with a message is
    // already being sent.
    .where((eb) =>
      eb.or([
        eb('status', '=', 'pending').and('scheduled_at', '<=', tx.now()),
        eb('status', '=', 'sending').and('message', 'is', null),
      ]),
    )
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => row.id)
}

/**
 * If several runs of an automation are about to send their first message to the same phone, skips all but one: it
 * starts the cooldown.
 */
function skipWithinCooldown(decisions: Decision[]): Decision[] {
  const leaving = new Set<string>()
  return decisions.map((decision) => {
    const { row } = decision
    if (decision.kind !== 'send' || row.sequence !== 1 || row.cooldown_hours === 0) return decision
    const key = toPersonKey(row)
    if (leaving.has(key) && row.origin !== 'manual')
      return { ...decision, kind: 'skipped', reason: 'cooldown' }
    leaving.add(key)
    return decision
  })
}

/**
 * Finds first messages that must wait, because another run's first message of the automation to the same phone is
 * getting a coupon. They are decided again once that message is sent, which starts the cooldown, or held.
 */
async function findBlocked(tx: Context, decisions: readonly Decision[]): Promise<ReadonlySet<Decision>> {
  const wanting = decisions.filter(
    ({ kind, row }) =>
      kind === 'coupon' &&
      row.sequence === 1 &&
      row.cooldown_hours > 0 &&
      row.phone_key !== null &&
      !row.is_forced &&
      row.origin !== 'manual' &&
      !hasCoupon(row),
  )
  if (wanting.length === 0) return new Set()
  const making = await findPhonesWithCoupon(tx, wanting)
  for (const { kind, row } of decisions) if (kind === 'coupon' && hasCoupon(row)) making.add(toPersonKey(row))
  return new Set(
    wanting.filter(({ row }) => {
      const person = toPersonKey(row)
      if (making.has(person)) return true
      making.add(person)
      return false
    }),
  )
}

const hasCoupon = (row: Decision['row']): boolean => row.coupons.some((coupon) => coupon.stepId === '')
const toPersonKey = (row: { automation_id: string; phone_key: string | null }): string =>
  `${row.automation_id}:${row.phone_key}`

/** Finds phones with a due first message for which this worker or another has already stored a coupon. */
async function findPhonesWithCoupon(tx: Context, wanting: readonly Decision[]): Promise<Set<string>> {
  const rows = await tx.db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_coupons as c', 'c.run_id', 'e.run_id')
    .select(['e.automation_id', 'e.phone_key'])
    .where('c.step_id', '=', '')
    .where('e.sequence', '=', 1)
    .where('e.status', '=', 'pending')
    .where('e.scheduled_at', '<=', tx.now())
    .where(isAmong('e.phone_key', [...new Set(wanting.flatMap(({ row }) => row.phone_key ?? []))]))
    .where(isAmong('e.automation_id', [...new Set(wanting.map(({ row }) => row.automation_id))], 'uuid'))
    .execute()
  return new Set(rows.map(toPersonKey))
}

/**
 * Reserves a rate slot for each message to send. Messages that get no slot are returned as `waiting` and stay pending.
 */
async function reserveSlots(
  tx: Context,
  decisions: readonly Decision[],
  routes: readonly SendRoute[],
): Promise<{ waiting: ReadonlySet<Decision>; nextSlotAt: Date | null }> {
  const waiting = new Set<Decision>()
  let nextSlotAt: Date | null = null
  const leaving = decisions.filter((decision): decision is SendDecision => decision.kind === 'send')
  for (const [numberId, group] of Map.groupBy(leaving, (each) => each.connection.numberId)) {
    const route = routes.find(({ connection }) => connection.numberId === numberId)!
    const slots = await takeRateSlots(tx, route.connection, group.length, route.perSecond)
    const places = 'places' in slots ? slots.places : 0
    for (const decision of group.slice(places)) waiting.add(decision)
    if ('at' in slots && (!nextSlotAt || slots.at < nextSlotAt)) nextSlotAt = slots.at
  }
  return { waiting, nextSlotAt }
}

/**
 * Reserves a quota unit for each message to send that has none. If there are too few units, the first messages get
 * them.
 */
async function reserveUnits(tx: Context, decisions: Decision[]): Promise<Decision[]> {
  const needing = decisions.filter(({ kind, row }) => kind === 'send' && row.reservation_id === null)
  const { reservationId, units } = await outbox.reserveUpTo(tx, needing.length, 'automation')
  const served = new Set(needing.slice(0, units))
  const unserved = new Set(needing.slice(units))
  if (unserved.size > 0) await notifyQuota(tx)
  return decisions.map((decision) => {
    if (served.has(decision)) return { ...decision, row: { ...decision.row, reservation_id: reservationId } }
    if (!unserved.has(decision)) return decision
    const { row, stepId, visits, passedPurchaseCheck } = decision
    const code = 'quota-exceeded'
    return { row, stepId, visits, passedPurchaseCheck, kind: 'failed', code, reason: describeReason(code) }
  })
}

async function notifyQuota(tx: Context): Promise<void> {
  const cycle = await tx.db
    .selectFrom('usage_cycles')
    .select('starts_at')
    .where('starts_at', '<=', tx.now())
    .orderBy('starts_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  await notify(tx, {
    type: 'automations-quota',
    level: 'error',
    title: 'Messages of automations are not leaving',
    message: 'All messages of this cycle are used: what automations would send fails until the next cycle.',
    dedupeKey: `automations-quota:${cycle?.starts_at.toISOString() ?? 'none'}`,
  })
}

function buildClaims(tx: Context, decisions: readonly Decision[], routes: readonly SendRoute[]): Claim[] {
  const leaving = decisions.filter((decision): decision is SendDecision => decision.kind === 'send')
  return [...Map.groupBy(leaving, (each) => each.connection.numberId)].map(([numberId, group]) => ({
    id: tx.newId(),
    route: routes.find(({ connection }) => connection.numberId === numberId)!,
    messages: group.map(({ row, content }) => ({
      id: row.id,
      attempt: row.attempts + 1,
      phone: row.phone,
      content,
      isManual: row.origin === 'manual',
    })),
  }))
}

async function writeDecisions(
  tx: Context,
  decisions: readonly Decision[],
  claims: readonly Claim[],
): Promise<void> {
  const now = tx.now()
  const claimOf = new Map(claims.flatMap((claim) => claim.messages.map(({ id }) => [id, claim] as const)))
  const rows = decisions.map((decision) => {
    const row = toDecisionRow(decision, now)
    const claim = claimOf.get(decision.row.id)
    if (!claim) return row
    const at = now.toISOString()
    const called = claim.route.isIdempotent ? at : null
    return { ...row, claim_id: claim.id, claimed_at: at, called_at: called, tries: 1 }
  })
  await writeRows(tx, rows)
  await logHolds(
    tx,
    decisions.map(({ row: { id, automation_id: automationId, hold_reason: before } }, at) => {
      const { hold_reason: after = null, status } = rows[at]! as { hold_reason?: string; status: string }
      return { id, automationId, before, after, status }
    }),
  )
  await writeStepLog(tx, decisions)
  await endFinished(tx, decisions)
  await queueAdvance(
    tx,
    decisions.flatMap((decision) => {
      if (decision.kind === 'wait') return decision.until
      return decision.kind === 'held' ? decision.hold.until : []
    }),
  )
}
