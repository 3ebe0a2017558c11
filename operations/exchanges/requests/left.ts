/** What of an order has not been promised or paid back yet: pure. */
import { amounts } from '#operations/store/door'
import type { Hold, Worth } from './units.ts'

/**
 * How much of what completed requests brought back is the same as what the platform refunded: it counts once. What was
 * refunded before a request was made is none of it.
 */
function countedOnce(
  refunded: bigint,
  completed: readonly { back: bigint; refundedBefore: bigint }[],
): bigint {
  let once = 0n
  const newestFirst = [...completed].sort((a, b) => Number(b.refundedBefore - a.refundedBefore))
  for (const { back, refundedBefore } of newestFirst) {
    once += amounts.lesser(back, amounts.notNegative(refunded - refundedBefore - once))
  }
  return once
}

export interface LineLeft {
  /** Units in requests. */
  takenQuantity: number
  /** Of these, units that are among the refunded ones. */
  countedOnce: number
  /** Places of the first so many units that can be asked for, in order. Who only looks makes none: a line may have millions. */
  places(most: number): number[]
  /** What of the line's money has been neither paid back nor promised; decimal text. */
  moneyLeft: string
}

interface Line {
  quantity: number
  refundedQuantity: number
  /** Decimal text, both. */
  total: string
  refundedTotal: string
}

export function lineLeft(line: Line, holds: readonly Hold[]): LineLeft {
  const { quantity, refundedQuantity } = line
  const completed = holds
    .filter(({ isCompleted }) => isCompleted)
    .map(({ back, refundedBefore }) => ({ back: BigInt(back), refundedBefore: BigInt(refundedBefore) }))
  const once = Number(countedOnce(BigInt(refundedQuantity), completed))
  const free = freeRuns(quantity, holds)
  // Whatever was refunded without a request has the first of those that no request has.
  const alone = Math.max(0, refundedQuantity - once)
  return {
    takenQuantity: holds.reduce((sum, { units }) => sum + units.length, 0),
    countedOnce: once,
    places: (most) => placesIn(partOf(free, alone, alone + most)),
    moneyLeft: amounts.toMoney(amounts.notNegative(lineMoneyLeft(line, holds, once, partOf(free, 0, alone)))),
  }
}

/** Units side by side: the place of the first, and that behind the last. A line may have millions, and few runs. */
type Run = readonly [from: number, to: number]

/** Of units that no request has. */
function freeRuns(quantity: number, holds: readonly Hold[]): Run[] {
  const runs: Run[] = []
  let from = 0
  for (const taken of holds.flatMap(({ units }) => units).sort((a, b) => a - b)) {
    runs.push([from, Math.min(taken, quantity)])
    from = taken + 1
  }
  return [...runs, [from, quantity] as const].filter(([first, to]) => first < to)
}

/** The units from one to before another, counted over the runs. */
function partOf(runs: readonly Run[], first: number, behind: number): Run[] {
  let before = 0
  return runs
    .map(([from, to]): Run => {
      const part: Run = [from + Math.max(0, first - before), Math.min(to, from + behind - before)]
      before += to - from
      return part
    })
    .filter(([from, to]) => from < to)
}

const placesIn = (runs: readonly Run[]): number[] =>
  runs.flatMap(([from, to]) => Array.from({ length: to - from }, (_none, at) => from + at))

/** `alone`: the units that were refunded without a request. */
function lineMoneyLeft(
  { quantity, refundedQuantity, total, refundedTotal }: Line,
  holds: readonly Hold[],
  once: number,
  alone: readonly Run[],
): bigint {
  const cents = amounts.toCents(total)
  const worth = (units: readonly number[]): bigint => amounts.unitsWorth(cents, units, Math.max(1, quantity))
  const worthOfAlone = amounts.sumOf(
    alone.map(([from, to]) => amounts.unitsBetween(cents, from, to, Math.max(1, quantity))),
  )
  const back = holds.flatMap(({ isCompleted, units, back: many }) =>
    isCompleted ? units.slice(0, many) : [],
  )
  const besides = amounts.notNegative(amounts.toCents(refundedTotal) - worth(back.slice(0, once)))
  // What units gave back beyond their worth, and a cent of rounding each, are taxes that the line is without: the others
  // are worth what they were.
  const hasTaxes = refundedQuantity > 0 && besides > worthOfAlone + BigInt(refundedQuantity)
  const backAlone = hasTaxes ? worthOfAlone : besides
  return cents - worth(holds.flatMap(({ units }) => units)) - backAlone
}

/** What of the order's money can still be promised; decimal text. */
export function moneyLeft(
  order: { total: string; refundedTotal: string },
  requests: readonly Worth[],
): string {
  const refunded = amounts.toCents(order.refundedTotal)
  const completed = requests
    .filter(({ isCompleted }) => isCompleted)
    .map(({ amount, refundedBefore }) => ({ back: amount, refundedBefore }))
  const promised = amounts.sumOf(requests.map(({ amount }) => amount))
  const left = amounts.toCents(order.total) - refunded - promised + countedOnce(refunded, completed)
  return amounts.toMoney(amounts.notNegative(left))
}
