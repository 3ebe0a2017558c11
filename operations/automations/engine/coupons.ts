/** Issues the coupons of runs: each is stored first, then created on the platform (rules 5, 9). */
import { sql } from 'kysely'
import { connections, coupons } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { formatDiscountValue, inCurrency } from '#runtime/values/money'
import { generateCouponCode, getCouponEnd, isSameCoupon } from '../deciding/coupon-codes.ts'
import { type Decision, getHoldState } from '../deciding/decide.ts'
import type { IssuedCoupon } from '../deciding/facts.ts'
import { logHolds } from '../deciding/hold-log.ts'
import { extendHold, failureCodeByHold } from '../deciding/holds.ts'
import type { EngineRow } from '../deciding/rows.ts'
import { automationCouponRevoke } from '../handles.ts'
import { describeReason, type OwnReason } from '../reasons.ts'
import type { CouponSpec } from '../types.ts'
import { queueAdvance } from './schedule.ts'
import { endExecutions } from './termination.ts'

export interface PendingCoupon {
  row: EngineRow
  stepId: string
  code: string
  spec: CouponSpec
  endsAt: Date
}

type CouponDecision = Extract<Decision, { kind: 'coupon' }>

/**
 * Stores a code for each coupon, in the transaction that decided to issue it. A retry reuses the code stored for the
 * run's step, unless the coupon's terms have changed since: nobody was given that code, and it is revoked.
 */
export async function storeCoupons(
  ctx: Context,
  decisions: readonly CouponDecision[],
): Promise<PendingCoupon[]> {
  if (decisions.length === 0) return []
  const now = ctx.now()
  // A coupon that is issued before the first message is stored under step ''.
  const getStepId = ({ stepId, row }: CouponDecision): string => (row.sequence === 1 ? '' : (stepId ?? ''))
  for (const each of decisions) {
    const stepId = getStepId(each)
    const outdated = each.row.coupons.find(
      (coupon) => coupon.stepId === stepId && !isSameCoupon(coupon.spec, each.coupon),
    )
    if (outdated) await dropCoupon(ctx, each.row.run_id, outdated)
  }
  await ctx.db
    .insertInto('automation_coupons')
    .values(
      decisions.map((each) => ({
        run_id: each.row.run_id,
        step_id: getStepId(each),
        code: generateCouponCode(each.coupon.prefix),
        spec: JSON.stringify(each.coupon),
        amount: each.coupon.type === 'amount' ? each.coupon.value : null,
        ends_at: getCouponEnd(each.coupon.validDays, now, ctx.store.timezone),
        created_at: now,
      })),
    )
    // This also ignores a collision with the code of another run. The next attempt then generates a new code.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const rows = await ctx.db
    .selectFrom('automation_coupons')
    .select(['run_id', 'step_id', 'code', 'spec', 'ends_at'])
    .where('run_id', '=', sql<string>`any(${decisions.map(({ row }) => row.run_id)}::uuid[])`)
    .where('is_made', '=', false)
    .execute()
  return decisions.flatMap((each) => {
    const stored = rows.find((row) => row.run_id === each.row.run_id && row.step_id === getStepId(each))
    if (!stored) return []
    const { step_id: stepId, code, ends_at: endsAt } = stored
    return { row: each.row, stepId, code, spec: stored.spec as CouponSpec, endsAt }
  })
}

async function dropCoupon(ctx: Context, runId: string, { stepId, code }: IssuedCoupon): Promise<void> {
  await ctx.db
    .deleteFrom('automation_coupons')
    .where('run_id', '=', runId)
    .where('step_id', '=', stepId)
    .where('code', '=', code)
    .execute()
  await ctx.queue(automationCouponRevoke, { code })
}

/** Deletes a coupon at the platform whose code was replaced before anybody was given it. */
export async function revokeUnsent(ctx: Context, code: string): Promise<void> {
  const platform = await connections.findEcommerce(ctx)
  if (!platform) return
  try {
    await coupons.revokeCoupon(platform, code)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, code }, 'revoking an unsent coupon refused')
  }
}

/** Maximum number of concurrent calls to the platform. */
const concurrency = 8

/**
 * Creates the coupons on the platform, outside any transaction. A coupon whose code exists there is not created again.
 */
export async function makeCoupons(ctx: Context, pending: readonly PendingCoupon[]): Promise<void> {
  const waiting = [...pending]
  const runWorker = async (): Promise<void> => {
    for (let coupon = waiting.shift(); coupon; coupon = waiting.shift()) await makeCoupon(ctx, coupon)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, pending.length) }, runWorker))
}

async function makeCoupon(ctx: Context, coupon: PendingCoupon): Promise<void> {
  const { row, stepId, code, spec, endsAt } = coupon
  const { currency } = ctx.store
  const platform = await connections.findEcommerce(ctx)
  if (!platform) {
    return fail(
      ctx,
      row,
      'coupon-failed',
      'The store is not connected to its platform: the coupon cannot be made',
    )
  }
  try {
    await coupons.guaranteeCoupon(platform, {
      code,
      type: spec.type,
      value: spec.value === null ? null : formatDiscountValue(spec.type, spec.value, currency),
      minimumAmount:
        spec.minimumAmount === null ? null : inCurrency(currency).formatAmount(spec.minimumAmount),
      usageLimit: 1,
      endsAt: endsAt.toISOString(),
    })
  } catch (error) {
    if (error instanceof Refused) return fail(ctx, row, 'coupon-failed', error.message)
    if (error instanceof Unavailable) return hold(ctx, row)
    throw error
  }
  const made = await ctx.db
    .updateTable('automation_coupons')
    .set({ is_made: true })
    .where('run_id', '=', row.run_id)
    .where('step_id', '=', stepId)
    .where('code', '=', code)
    .returning('code')
    .execute()
  // Another worker has replaced the code during the call.
  if (made.length === 0) await ctx.queue(automationCouponRevoke, { code })
}

const fail = async (ctx: Context, row: EngineRow, code: OwnReason, reason: string): Promise<void> => {
  await ctx.transaction((tx) =>
    endExecutions(tx, [{ id: row.id, status: 'failed', code, reason }], [row.status]),
  )
}

/** Holds the execution while the platform is down; fails it after a day of holds. */
async function hold(ctx: Context, row: EngineRow): Promise<void> {
  const held = extendHold(getHoldState(row), 'provider-unavailable', ctx.now())
  if (!held) {
    const code = failureCodeByHold['provider-unavailable']
    return fail(ctx, row, code, describeReason(code))
  }
  await ctx.transaction(async (tx) => {
    await tx.db
      .updateTable('automation_executions')
      .set({
        status: 'pending',
        scheduled_at: held.until,
        due_at: sql<Date>`coalesce(due_at, scheduled_at)`,
        hold_reason: held.reason,
        held_since: held.since,
        held_ms: Math.round(held.heldMs),
        hold_tries: held.tries,
        claim_id: null,
        claimed_at: null,
        updated_at: tx.now(),
      })
      .where('id', '=', row.id)
      .where('status', '=', row.status)
      .execute()
    const { id, automation_id: automationId, hold_reason: before } = row
    await logHolds(tx, [{ id, automationId, before, after: held.reason, status: 'pending' }])
    await queueAdvance(tx, [held.until])
  })
}
