// What installments come to, as the server reckons it (`installments/math.ts`): whole cents, no floating point.

/** An amount is what its decimals say, not what binary made of it. */
const centsOf = (amount) => BigInt(Number(amount).toFixed(2).replace('.', ''))
const amountOf = (cents) => Number(cents) / 100

/** The rule that an amount falls in, or null. */
export function ruleFor(amount, rules) {
  const price = centsOf(amount)
  return (
    rules.find(
      ({ minAmount, maxAmount }) =>
        centsOf(minAmount) <= price && (maxAmount === null || price < centsOf(maxAmount)),
    ) ?? null
  )
}

/** The options of an amount; without a rule, all at once alone. */
export function optionsOf(amount, rule) {
  const price = centsOf(amount)
  const least = rule ? centsOf(rule.minInstallmentAmount) : 0n
  const options = []
  for (let n = 1; n <= (rule?.maxInstallments ?? 1); n += 1) {
    const isInterestFree = !rule || n <= rule.interestFreeInstallments
    const parts = BigInt(n)
    const each = isInterestFree ? price / parts : withInterest(price, parts, rule.monthlyInterestRate)
    if (n > 1 && (each < least || each < 1n)) continue
    const total = isInterestFree ? price : each * parts
    options.push({
      installments: n,
      amount: amountOf(each),
      firstAmount: amountOf(isInterestFree ? price - each * (parts - 1n) : each),
      total: amountOf(total),
      interestTotal: amountOf(total - price),
      isInterestFree,
    })
  }
  return options
}

const scale = 1_000_000n

/** `P·i / (1 − (1 + i)^−n)` as an exact fraction, half up once, and never below the price over `n`. */
function withInterest(price, parts, ratePercent) {
  const rate = BigInt(ratePercent.toFixed(4).replace('.', ''))
  const a = (scale + rate) ** parts
  const b = scale ** parts
  const [numerator, denominator] = [price * rate * a, scale * (a - b)]
  const rounded = (2n * numerator + denominator) / (2n * denominator)
  const least = (price + parts - 1n) / parts
  return rounded > least ? rounded : least
}
