// Computes installments with the same result as the server (`installments/math.ts`): whole cents, no floating point.

/** Converts an amount to cents. Uses its two decimals as text, because multiplying a float by 100 is inexact. */
const toCents = (amount) => BigInt(Number(amount).toFixed(2).replace('.', ''))
const toAmount = (cents) => Number(cents) / 100

/** The rule whose range contains the amount, or null. */
export function findRule(amount, rules) {
  const price = toCents(amount)
  return (
    rules.find(
      ({ minAmount, maxAmount }) =>
        toCents(minAmount) <= price && (maxAmount === null || price < toCents(maxAmount)),
    ) ?? null
  )
}

/** The options of an amount. Without a rule, the only option is a single payment. */
export function buildOptions(amount, rule) {
  const price = toCents(amount)
  const least = rule ? toCents(rule.minInstallmentAmount) : 0n
  const options = []
  for (let n = 1; n <= (rule?.maxInstallments ?? 1); n += 1) {
    const isInterestFree = !rule || n <= rule.interestFreeInstallments
    const parts = BigInt(n)
    const each = isInterestFree ? price / parts : withInterest(price, parts, rule.monthlyInterestRate)
    if (n > 1 && (each < least || each < 1n)) continue
    const total = isInterestFree ? price : each * parts
    options.push({
      installments: n,
      amount: toAmount(each),
      firstAmount: toAmount(isInterestFree ? price - each * (parts - 1n) : each),
      total: toAmount(total),
      interestTotal: toAmount(total - price),
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
  const [numerator, denominator] = [price * rate * a, scale * (a - b)]
  const rounded = (2n * numerator + denominator) / (2n * denominator)
  const least = (price + parts - 1n) / parts
  return rounded > least ? rounded : least
}
