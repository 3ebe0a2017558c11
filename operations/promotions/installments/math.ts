/** Computes installments (rule 6) in whole cents and exact fractions, without floating point. */
import { amounts } from '#operations/store/index'

/** Amounts as decimal text, the rate in per cent with at most four decimals. */
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

/** The options of an amount (decimal text); without a rule, only a single payment. */
export function buildOptions(amount: string, rule: RuleTerms | null): InstallmentOption[] {
  const price = amounts.toCents(amount)
  const most = rule?.maxInstallments ?? 1
  const least = rule ? amounts.toCents(rule.minInstallmentAmount) : 0n
  const options: InstallmentOption[] = []
  for (let n = 1; n <= most; n += 1) {
    const isInterestFree = !rule || n <= rule.interestFreeInstallments
    const even = amounts.splitEvenly(price, n)
    const each = isInterestFree ? even.others : computeInstallment(price, n, rule.monthlyInterestRate)
    if (n > 1 && (each < least || each < 1n)) continue
    const total = isInterestFree ? price : each * BigInt(n)
    options.push({
      installments: n,
      amount: amounts.toNumber(each),
      firstAmount: amounts.toNumber(isInterestFree ? even.first : each),
      total: amounts.toNumber(total),
      interestTotal: amounts.toNumber(total - price),
      isInterestFree,
    })
  }
  return options
}

const scale = 1_000_000n

/**
 * `P·i / (1 − (1 + i)^−n)`, rounded half up: with `i = r / 10^6` that is the fraction `P·r·a / (10^6·(a − b))`, where
 * `a = (10^6 + r)^n` and `b = 10^6n`.
 */
function computeInstallment(price: bigint, installments: number, ratePercent: string): bigint {
  const rate = parseRate(ratePercent)
  const a = (scale + rate) ** BigInt(installments)
  const b = scale ** BigInt(installments)
  const numerator = price * rate * a
  const denominator = scale * (a - b)
  const rounded = amounts.divideHalfUp(numerator, denominator)
  // For a few cents, rounding would take off more than the interest adds.
  const least = (price + BigInt(installments) - 1n) / BigInt(installments)
  return rounded > least ? rounded : least
}

/** `2.99` per cent is 29900 millionths. */
function parseRate(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.')
  return BigInt(whole) * 10_000n + BigInt(decimals.slice(0, 4).padEnd(4, '0'))
}

/** The active rule for an amount, or null. The ranges of `rules` do not overlap. */
export function findRuleFor<R extends RuleTerms>(amount: string, rules: readonly R[]): R | null {
  const price = amounts.toCents(amount)
  return (
    rules.find(
      ({ minAmount, maxAmount }) =>
        amounts.toCents(minAmount) <= price && (maxAmount === null || price < amounts.toCents(maxAmount)),
    ) ?? null
  )
}
