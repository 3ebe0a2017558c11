/** What is due, decided and claimed in one transaction (rule 5). */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { isAmong, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type Decision, decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import { reasonOf } from '../reasons.ts'
import { type CouponToMake, storeCoupons } from './coupons.ts'
import type { Claimed } from './lane.ts'
import { queueAdvance } from './schedule.ts'
import { isWay, type Means, surroundingsOf, type Way } from './surroundings.ts'
import { takePlaces } from './turns.ts'
import { rowOf, settleEnded, writePassages, writeRows } from './write-decisions.ts'

type Leaving = Extract<Decision, { is: 'leaves' }>

/** Messages that leave together, through one connection. */
export interface Claim {
  id: string
  way: Way
  messages: Claimed[]
}

export interface Batch {
  /** How many were looked at, but for those that wait for another one of their phone. */
  seen: number
  claims: Claim[]
  coupons: CouponToMake[]
  /** When the next places on a number are, while there are none now. */
  nextTurn: Date | null
}

const lookedAtOnce = 200

/**
 * Decides what becomes of due executions, or of the one that `run` has claimed. `means`: asked just before, outside.
 */
export async function claimDue(ctx: Context, means: Means, executionId: string | null): Promise<Batch> {
  return ctx.transaction(async (tx) => {
    await lockAutomations(tx)
    const ids = executionId === null ? await dueIds(tx) : await claimedId(tx, executionId)
    const rows = await readRows(tx, ids)
    const around = await surroundingsOf(tx, means, rows)
    const all = rows.map((row) => decide(row, around))
    const behind = await behindOthers(tx, all)
    let decisions = onePerPhone(all.filter((decision) => !behind.has(decision)))
    const ways = [means.selected, means.official].filter(isWay)
    const { late, nextTurn } = await takeTurns(tx, decisions, ways)
    decisions = await reserveUnits(
      tx,
      decisions.filter((decision) => !late.has(decision)),
    )
    const claims = claimsOf(tx, decisions, ways)
    await write(tx, decisions, claims)
    const coupons = await storeCoupons(
      tx,
      decisions.filter((decision) => decision.is === 'coupon'),
    )
    return { seen: rows.length - behind.size, claims, coupons, nextTurn }
  })
}

/** Decisions of one store take turns: neither a cooldown nor a place on a number is given twice. */
export const lockAutomations = async (tx: Context): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`automations:${tx.store.id}`}, 0))`.execute(tx.db)
}

async function dueIds(tx: Context): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('status', '=', sql.lit('pending'))
    .where('scheduled_at', '<=', tx.now())
    .orderBy('scheduled_at')
    .limit(lookedAtOnce)
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => row.id)
}

async function claimedId(tx: Context, id: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('id', '=', id)
    // By hand it is pending, by `run` claimed; once it has its text it is on its way.
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

/** Of two first messages of one automation to one phone the second one meets the cooldown of the first. */
function onePerPhone(decisions: Decision[]): Decision[] {
  const leaving = new Set<string>()
  return decisions.map((decision) => {
    const { row } = decision
    if (decision.is !== 'leaves' || row.sequence !== 1 || row.cooldown_hours === 0) return decision
    const key = personOf(row)
    if (leaving.has(key) && row.origin !== 'manual') return { ...decision, is: 'skipped', reason: 'cooldown' }
    leaving.add(key)
    return decision
  })
}

/**
 * Of two first messages of one automation to one phone one alone has a coupon made; the other one is looked at again
 * when that one has left (and so it meets the cooldown) or is held.
 */
async function behindOthers(tx: Context, decisions: readonly Decision[]): Promise<ReadonlySet<Decision>> {
  const wanting = decisions.filter(
    ({ is, row }) =>
      is === 'coupon' &&
      row.sequence === 1 &&
      row.cooldown_hours > 0 &&
      row.phone_key !== null &&
      !row.is_forced &&
      row.origin !== 'manual' &&
      !hasCoupon(row),
  )
  if (wanting.length === 0) return new Set()
  const making = await makingCoupons(tx, wanting)
  for (const { is, row } of decisions) if (is === 'coupon' && hasCoupon(row)) making.add(personOf(row))
  return new Set(
    wanting.filter(({ row }) => {
      const person = personOf(row)
      if (making.has(person)) return true
      making.add(person)
      return false
    }),
  )
}

const hasCoupon = (row: Decision['row']): boolean => row.coupons.some((coupon) => coupon.stepId === '')
const personOf = (row: { automation_id: string; phone_key: string | null }): string =>
  `${row.automation_id}:${row.phone_key}`

/** For whom a coupon of the first message is written down, by this worker or another, whose message is due. */
async function makingCoupons(tx: Context, wanting: readonly Decision[]): Promise<Set<string>> {
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
  return new Set(rows.map(personOf))
}

/** Those beyond the places that their number has now stay as they are. */
async function takeTurns(
  tx: Context,
  decisions: readonly Decision[],
  ways: readonly Way[],
): Promise<{ late: ReadonlySet<Decision>; nextTurn: Date | null }> {
  const late = new Set<Decision>()
  let nextTurn: Date | null = null
  const leaving = decisions.filter((decision): decision is Leaving => decision.is === 'leaves')
  for (const [numberId, group] of Map.groupBy(leaving, (each) => each.connection.numberId)) {
    const way = ways.find(({ connection }) => connection.numberId === numberId)!
    const turn = await takePlaces(tx, way.connection, group.length, way.perSecond)
    const places = 'places' in turn ? turn.places : 0
    for (const decision of group.slice(places)) late.add(decision)
    if ('at' in turn && (!nextTurn || turn.at < nextTurn)) nextTurn = turn.at
  }
  return { late, nextTurn }
}

/** A unit of the quota for each that leaves; where there are too few, the first ones have them. */
async function reserveUnits(tx: Context, decisions: Decision[]): Promise<Decision[]> {
  const needing = decisions.filter(({ is, row }) => is === 'leaves' && row.reservation_id === null)
  const { reservationId, units } = await outbox.reserveUpTo(tx, needing.length, 'automation')
  const served = new Set(needing.slice(0, units))
  const unserved = new Set(needing.slice(units))
  if (unserved.size > 0) await tellOfQuota(tx)
  return decisions.map((decision) => {
    if (served.has(decision)) return { ...decision, row: { ...decision.row, reservation_id: reservationId } }
    if (!unserved.has(decision)) return decision
    const { row, stepId, passages, passedPurchaseCheck } = decision
    const code = 'quota-exceeded'
    return { row, stepId, passages, passedPurchaseCheck, is: 'failed', code, reason: reasonOf(code) }
  })
}

async function tellOfQuota(tx: Context): Promise<void> {
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

function claimsOf(tx: Context, decisions: readonly Decision[], ways: readonly Way[]): Claim[] {
  const leaving = decisions.filter((decision): decision is Leaving => decision.is === 'leaves')
  return [...Map.groupBy(leaving, (each) => each.connection.numberId)].map(([numberId, group]) => ({
    id: tx.newId(),
    way: ways.find(({ connection }) => connection.numberId === numberId)!,
    messages: group.map(({ row, content }) => ({
      id: row.id,
      attempt: row.attempts + 1,
      phone: row.phone,
      content,
      isManual: row.origin === 'manual',
    })),
  }))
}

async function write(tx: Context, decisions: readonly Decision[], claims: readonly Claim[]): Promise<void> {
  const now = tx.now()
  const claimOf = new Map(claims.flatMap((claim) => claim.messages.map(({ id }) => [id, claim] as const)))
  await writeRows(
    tx,
    decisions.map((decision) => {
      const row = rowOf(decision, now)
      const claim = claimOf.get(decision.row.id)
      if (!claim) return row
      const at = now.toISOString()
      const called = claim.way.isIdempotent ? at : null
      return { ...row, claim_id: claim.id, claimed_at: at, called_at: called, tries: 1 }
    }),
  )
  await writePassages(tx, decisions)
  await settleEnded(tx, decisions)
  await queueAdvance(
    tx,
    decisions.flatMap((decision) => {
      if (decision.is === 'wait') return decision.until
      return decision.is === 'held' ? decision.hold.until : []
    }),
  )
}
