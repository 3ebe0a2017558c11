/** Computes the units and the money of an order that are neither promised to a request nor refunded. Pure. */
import { amounts } from '#operations/store/index'
import type { LineReservation, RequestValue } from './units.ts'

/**
 * How much of the completed requests is also contained in the platform's refunds, and must not be subtracted twice. A
 * refund from before a request cannot belong to that request.
 */
function countOverlap(
  refunded: bigint,
  completed: readonly { back: bigint; refundedBefore: bigint }[],
): bigint {
  let once = 0n
  const newestFirst = [...completed].sort((a, b) => Number(b.refundedBefore - a.refundedBefore))
  for (const { back, refundedBefore } of newestFirst) {
    once += amounts.minCents(back, amounts.atLeastZero(refunded - refundedBefore - once))
  }
  return once
}

export interface LineRemaining {
  /** Number of units in requests. */
  takenQuantity: number
  /** Number of the taken units that are also refunded at the platform. */
  countedOnce: number
  /** Indexes within the line of the first available units. Computed only on demand: a line may have millions of units. */
  places(most: number): number[]
  /** Money of the line that is neither refunded nor promised; decimal text. */
  moneyLeft: string
}

interface OrderLine {
  quantity: number
  refundedQuantity: number
  /** Decimal text, as is `refundedTotal`. */
  total: string
  refundedTotal: string
}

export function computeLineRemaining(
  line: OrderLine,
  holds: readonly LineReservation[],
  currency: string,
): LineRemaining {
  const { quantity, refundedQuantity } = line
  const completed = holds
    .filter(({ isCompleted }) => isCompleted)
    .map(({ back, refundedBefore }) => ({ back: BigInt(back), refundedBefore: BigInt(refundedBefore) }))
  const once = Number(countOverlap(BigInt(refundedQuantity), completed))
  const free = findFreeRuns(quantity, holds)
  // Refunds do not say which unit came back: units refunded without a request take the first indexes that are free.
  const alone = Math.max(0, refundedQuantity - once)
  return {
    takenQuantity: holds.reduce((sum, { units }) => sum + units.length, 0),
    countedOnce: once,
    places: (most) => expandRuns(sliceRuns(free, alone, alone + most)),
    moneyLeft: computeLineMoney(line, holds, once, sliceRuns(free, 0, alone), currency),
  }
}

/** A run of adjacent units: first index and end (exclusive). A line may have millions of units but has few runs. */
type Run = readonly [from: number, to: number]

/** Runs of units that no request holds. */
function findFreeRuns(quantity: number, holds: readonly LineReservation[]): Run[] {
  const runs: Run[] = []
  let from = 0
  for (const taken of holds.flatMap(({ units }) => units).sort((a, b) => a - b)) {
    runs.push([from, Math.min(taken, quantity)])
    from = taken + 1
  }
  return [...runs, [from, quantity] as const].filter(([first, to]) => first < to)
}

/** Numbers the units of all runs from 0 and returns those from `first` to `behind` (exclusive), again as runs. */
function sliceRuns(runs: readonly Run[], first: number, behind: number): Run[] {
  let before = 0
  return runs
    .map(([from, to]): Run => {
      const part: Run = [from + Math.max(0, first - before), Math.min(to, from + behind - before)]
      before += to - from
      return part
    })
    .filter(([from, to]) => from < to)
}

const expandRuns = (runs: readonly Run[]): number[] =>
  runs.flatMap(([from, to]) => Array.from({ length: to - from }, (_none, at) => from + at))

/** The remaining money of a line; decimal text. `alone` are the units refunded without a request. */
function computeLineMoney(
  { quantity, refundedQuantity, total, refundedTotal }: OrderLine,
  holds: readonly LineReservation[],
  once: number,
  alone: readonly Run[],
  currency: string,
): string {
  const { toCents, toMoney } = amounts.inCurrency(currency)
  const cents = toCents(total)
  const worth = (units: readonly number[]): bigint => amounts.unitsShare(cents, units, Math.max(1, quantity))
  const worthOfAlone = amounts.sumCents(
    alone.map(([from, to]) => amounts.unitRangeShare(cents, from, to, Math.max(1, quantity))),
  )
  const back = holds.flatMap(({ isCompleted, units, back: many }) =>
    isCompleted ? units.slice(0, many) : [],
  )
  const besides = amounts.atLeastZero(toCents(refundedTotal) - worth(back.slice(0, once)))
  // If the refund is higher than the value of the refunded units (plus a cent of rounding for each), the excess is
  // taxes that the line does not include. It does not reduce the value of the other units.
  const hasTaxes = refundedQuantity > 0 && besides > worthOfAlone + BigInt(refundedQuantity)
  const backAlone = hasTaxes ? worthOfAlone : besides
  return toMoney(amounts.atLeastZero(cents - worth(holds.flatMap(({ units }) => units)) - backAlone))
}

/** Money of the order that can still be promised; decimal text. */
export function computeRemainingMoney(
  order: { total: string; refundedTotal: string; currency: string },
  requests: readonly RequestValue[],
): string {
  const { toCents, toMoney } = amounts.inCurrency(order.currency)
  const refunded = toCents(order.refundedTotal)
  const completed = requests
    .filter(({ isCompleted }) => isCompleted)
    .map(({ amount, refundedBefore }) => ({ back: amount, refundedBefore }))
  const promised = amounts.sumCents(requests.map(({ amount }) => amount))
  const remaining = toCents(order.total) - refunded - promised + countOverlap(refunded, completed)
  return toMoney(amounts.atLeastZero(remaining))
}
