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
  const taken = new Set(holds.flatMap(({ units }) => units))
  // Whatever was refunded without a request has the first of those that no request has.
  const alone = Math.max(0, refundedQuantity - once)
  return {
    takenQuantity: holds.reduce((sum, { units }) => sum + units.length, 0),
    countedOnce: once,
    places: (most) => freePlaces(quantity, taken, alone + most).slice(alone),
    moneyLeft: amounts.toMoney(
      amounts.notNegative(lineMoneyLeft(line, holds, once, freePlaces(quantity, taken, alone))),
    ),
  }
}

/** The first so many that no request has. */
function freePlaces(quantity: number, taken: ReadonlySet<number>, most: number): number[] {
  const free: number[] = []
  for (let place = 0; place < quantity && free.length < most; place += 1) {
    if (!taken.has(place)) free.push(place)
  }
  return free
}

/** `alone`: places of the units that were refunded without a request. */
function lineMoneyLeft(
  { quantity, refundedQuantity, total, refundedTotal }: Line,
  holds: readonly Hold[],
  once: number,
  alone: readonly number[],
): bigint {
  const cents = amounts.toCents(total)
  const worth = (units: readonly number[]): bigint => amounts.unitsWorth(cents, units, Math.max(1, quantity))
  const back = holds.flatMap(({ isCompleted, units, back: many }) =>
    isCompleted ? units.slice(0, many) : [],
  )
  const besides = amounts.notNegative(amounts.toCents(refundedTotal) - worth(back.slice(0, once)))
  // What units gave back beyond their worth, and a cent of rounding each, are taxes that the line is without: the others
  // are worth what they were.
  const hasTaxes = refundedQuantity > 0 && besides > worth(alone) + BigInt(refundedQuantity)
  const backAlone = hasTaxes ? worth(alone) : besides
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
