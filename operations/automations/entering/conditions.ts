/** Checks the conditions of an automation (rule 1). No database, no clock. */
import { hundredths } from '#runtime/values/money'
import type { Conditions } from '../types.ts'

const { toCents } = hundredths

export interface ConditionFacts {
  /** Decimal text. */
  total: string
  currency: string
  /** The products of the order's or cart's lines. */
  productIds: readonly string[]
  categoryIds: ReadonlySet<string>
  /** The order's payment method; null for a cart. */
  paymentMethod: string | null
  /** Whether the customer has an earlier order. */
  hasEarlierOrder: boolean
}

export const paymentMethods = [
  'pix',
  'boleto',
  'credit-card',
  'debit-card',
  'transfer',
  'cash',
  'other',
] as const

/** Maps the platform's payment method to ours; an unknown one is `other`. */
export function parsePaymentMethod(text: string | null): (typeof paymentMethods)[number] {
  const folded = (text ?? '').toLowerCase().replace(/[\s_]+/g, '-')
  return paymentMethods.find((each) => each === folded) ?? 'other'
}

/** `currency`: the store's, in which the conditions' amounts are. A total in another currency is within no bounds. */
export function meetsConditions(conditions: Conditions, facts: ConditionFacts, currency: string): boolean {
  const total = toCents(facts.total)
  const { minAmount, maxAmount, customers } = conditions
  if ((minAmount !== null || maxAmount !== null) && facts.currency !== currency) return false
  if (minAmount !== null && total < toCents(minAmount)) return false
  if (maxAmount !== null && total > toCents(maxAmount)) return false
  const bought = new Set(facts.productIds)
  if (conditions.productIds.length > 0 && !conditions.productIds.some((id) => bought.has(id))) return false
  if (conditions.excludedProductIds.some((id) => bought.has(id))) return false
  if (conditions.categoryIds.length > 0 && !conditions.categoryIds.some((id) => facts.categoryIds.has(id))) {
    return false
  }
  if (conditions.paymentMethods.length > 0 && facts.paymentMethod !== null) {
    if (!conditions.paymentMethods.includes(parsePaymentMethod(facts.paymentMethod))) return false
  }
  if (customers === 'first-order') return !facts.hasEarlierOrder
  return customers === 'returning' ? facts.hasEarlierOrder : true
}
