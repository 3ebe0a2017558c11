/** Computes installments (rule 6) in whole cents and exact fractions, without floating point. */
import { amounts } from '#operations/store/index'

/** Amounts are decimal text; the interest rate is in per cent, with at most four decimals. */
export interface RuleTerms {
  id: string
  minAmount: string
  maxAmount: string | null
  maxInstallments: number
  interestFreeInstallments: number
  monthlyInterestRate: string
  minInstallmentAmount: string
}

export interface InstallmentOption {
  installments: number
  amount: number
  firstAmount: number
  total: number
  interestTotal: number
  isInterestFree: boolean
}

/** The options of an amount (decimal text). Without a rule, the only option is a single payment. */
export function buildOptions(amount: string, rule: RuleTerms | null, currency: string): InstallmentOption[] {
  const { toCents, toNumber } = amounts.inCurrency(currency)
  const price = toCents(amount)
  const most = rule?.maxInstallments ?? 1
  const least = rule ? toCents(rule.minInstallmentAmount) : 0n
  const options: InstallmentOption[] = []
  for (let n = 1; n <= most; n += 1) {
    const isInterestFree = !rule || n <= rule.interestFreeInstallments
    const even = amounts.splitEvenly(price, n)
    const each = isInterestFree ? even.others : computeInstallment(price, n, rule.monthlyInterestRate)
    if (n > 1 && (each < least || each < 1n)) continue
    const total = isInterestFree ? price : each * BigInt(n)
    options.push({
      installments: n,
      amount: toNumber(each),
      firstAmount: toNumber(isInterestFree ? even.first : each),
      total: toNumber(total),
      interestTotal: toNumber(total - price),
      isInterestFree,
    })
  }
  return options
}

const scale = 1_000_000n

/**
 * The amount of one installment: `P·i / (1 − (1 + i)^−n)`, rounded half up. With `i = r / 10^6` this equals the fraction
 * `P·r·a / (10^6·(a − b))`, where `a = (10^6 + r)^n` and `b = (10^6)^n`.
 */
function computeInstallment(price: bigint, installments: number, ratePercent: string): bigint {
  const rate = parseRate(ratePercent)
  const a = (scale + rate) ** BigInt(installments)
  const b = scale ** BigInt(installments)
  const numerator = price * rate * a
  const denominator = scale * (a - b)
  const rounded = amounts.divideHalfUp(numerator, denominator)
  // For a price of a few cents, rounding could make the installments sum to less than the price.
  const least = (price + BigInt(installments) - 1n) / BigInt(installments)
  return rounded > least ? rounded : least
}

/** Converts a rate in per cent to millionths: `2.99` is 29900. */
function parseRate(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.')
  return BigInt(whole) * 10_000n + BigInt(decimals.slice(0, 4).padEnd(4, '0'))
}

/** The rule whose range contains the amount, or null. The ranges of `rules` must not overlap. */
export function findRuleFor<R extends RuleTerms>(
  amount: string,
  rules: readonly R[],
  currency: string,
): R | null {
  const { toCents } = amounts.inCurrency(currency)
  const price = toCents(amount)
  return (
    rules.find(
      ({ minAmount, maxAmount }) =>
        toCents(minAmount) <= price && (maxAmount === null || price < toCents(maxAmount)),
    ) ?? null
  )
}
