/** Coupons of runs: written down first, then made at the platform (rules 5, 9). */
import { sql } from 'kysely'
import { connections, coupons } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { amountText } from '#runtime/values/money'
import { couponCode, couponEnd } from '../deciding/coupon-codes.ts'
import { type Decision, stateOf } from '../deciding/decide.ts'
import { codeOfHold, holdOn } from '../deciding/holds.ts'
import type { EngineRow } from '../deciding/rows.ts'
import { type OwnReason, reasonOf } from '../reasons.ts'
import type { CouponSpec } from '../types.ts'
import { endExecutions } from './endings.ts'
import { queueAdvance } from './schedule.ts'

export interface CouponToMake {
  row: EngineRow
  stepId: string
  code: string
  spec: CouponSpec
  endsAt: Date
}

type Wanted = Extract<Decision, { is: 'coupon' }>

/** In the transaction that decides: a run's coupon at a step has one code, whoever makes it and however often. */
export async function storeCoupons(ctx: Context, wanted: readonly Wanted[]): Promise<CouponToMake[]> {
  if (wanted.length === 0) return []
  const now = ctx.now()
  // The coupon of the first message is made where no step is.
  const stepOf = ({ stepId, row }: Wanted): string => (row.sequence === 1 ? '' : (stepId ?? ''))
  await ctx.db
    .insertInto('automation_coupons')
    .values(
      wanted.map((each) => ({
        run_id: each.row.run_id,
        step_id: stepOf(each),
        code: couponCode(each.coupon.prefix),
        spec: JSON.stringify(each.coupon),
        amount: each.coupon.type === 'amount' ? each.coupon.value : null,
        ends_at: couponEnd(each.coupon.validDays, now, ctx.store.timezone),
        created_at: now,
      })),
    )
    // Also of a code that another run has: the next look makes a new one.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const rows = await ctx.db
    .selectFrom('automation_coupons')
    .select(['run_id', 'step_id', 'code', 'spec', 'ends_at'])
    .where('run_id', '=', sql<string>`any(${wanted.map(({ row }) => row.run_id)}::uuid[])`)
    .where('is_made', '=', false)
    .execute()
  return wanted.flatMap((each) => {
    const stored = rows.find((row) => row.run_id === each.row.run_id && row.step_id === stepOf(each))
    if (!stored) return []
    const { step_id: stepId, code, ends_at: endsAt } = stored
    return { row: each.row, stepId, code, spec: stored.spec as CouponSpec, endsAt }
  })
}

/** Calls at once. */
const atOnce = 8

/** Asks the platform for them, outside any transaction; the same code twice is one coupon. */
export async function makeCoupons(ctx: Context, wanted: readonly CouponToMake[]): Promise<void> {
  const waiting = [...wanted]
  const inTurn = async (): Promise<void> => {
    for (let coupon = waiting.shift(); coupon; coupon = waiting.shift()) await makeCoupon(ctx, coupon)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, wanted.length) }, inTurn))
}

async function makeCoupon(ctx: Context, coupon: CouponToMake): Promise<void> {
  const { row, stepId, code, spec, endsAt } = coupon
  const platform = await connections.ecommerce(ctx)
  if (!platform) {
    return fail(
      ctx,
      row,
      'coupon-failed',
      'The store is not connected to its platform: the coupon cannot be made',
    )
  }
  try {
    await coupons.promise(platform, {
      code,
      type: spec.type,
      value: moneyOf(spec.value),
      minimumAmount: moneyOf(spec.minimumAmount),
      usageLimit: 1,
      endsAt: endsAt.toISOString(),
    })
  } catch (error) {
    if (error instanceof Refused) return fail(ctx, row, 'coupon-failed', error.message)
    if (error instanceof Unavailable) return hold(ctx, row)
    throw error
  }
  await ctx.db
    .updateTable('automation_coupons')
    .set({ is_made: true })
    .where('run_id', '=', row.run_id)
    .where('step_id', '=', stepId)
    .execute()
}

const moneyOf = (amount: number | null): string | null => (amount === null ? null : amountText(amount))

const fail = async (ctx: Context, row: EngineRow, code: OwnReason, reason: string): Promise<void> => {
  await ctx.transaction((tx) =>
    endExecutions(tx, [{ id: row.id, status: 'failed', code, reason }], [row.status]),
  )
}

/** The platform is down: looked at again later, for a day at most. */
async function hold(ctx: Context, row: EngineRow): Promise<void> {
  const held = holdOn(stateOf(row), 'provider-unavailable', ctx.now())
  if (!held) {
    const code = codeOfHold['provider-unavailable']
    return fail(ctx, row, code, reasonOf(code))
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
    await queueAdvance(tx, [held.until])
  })
}
