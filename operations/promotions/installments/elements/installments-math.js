// Computes installments with the same result as the server (`installments/math.ts`): whole cents, no floating point.

import { divideHalfUp, toAmount, toCents } from '../../../storefront/script/client/money.js'

/** The rule whose range contains the amount, or null. */
export function findRule(amount, rules, shop) {
  const price = toCents(amount, shop)
  return (
    rules.find(
      ({ minAmount, maxAmount }) =>
        toCents(minAmount, shop) <= price && (maxAmount === null || price < toCents(maxAmount, shop)),
    ) ?? null
  )
}

/** The options of an amount. Without a rule, the only option is a single payment. */
export function buildOptions(amount, rule, shop) {
  const price = toCents(amount, shop)
  const least = rule ? toCents(rule.minInstallmentAmount, shop) : 0n
  const options = []
  for (let n = 1; n <= (rule?.maxInstallments ?? 1); n += 1) {
    const isInterestFree = !rule || n <= rule.interestFreeInstallments
    const parts = BigInt(n)
    const each = isInterestFree ? price / parts : withInterest(price, parts, rule.monthlyInterestRate)
    if (n > 1 && (each < least || each < 1n)) continue
    const total = isInterestFree ? price : each * parts
    options.push({
      installments: n,
      amount: toAmount(each, shop),
      firstAmount: toAmount(isInterestFree ? price - each * (parts - 1n) : each, shop),
      total: toAmount(total, shop),
      interestTotal: toAmount(total - price, shop),
      isInterestFree,
    })
  }
  return options
}

const scale = 1_000_000n

/**
 * The amount of one installment: `P·i / (1 − (1 + i)^−n)` as an exact fraction, rounded half up, at least the price /
 * `n`.
 */
function withInterest(price, parts, ratePercent) {
  const rate = BigInt(ratePercent.toFixed(4).replace('.', ''))
  const a = (scale + rate) ** parts
  const b = scale ** parts
  const rounded = divideHalfUp(price * rate * a, scale * (a - b))
  const least = (price + parts - 1n) / parts
  return rounded > least ? rounded : least
}
