/** Refuses amounts with decimals that the store's currency has not. The schemas know only the two decimals of a column. */
import { refuse } from './errors.ts'
import { findMarked } from './references.ts'
import { isStoreAmount, type z } from './schema.ts'
import { decimalsOf, findAmountIssue } from './values/money.ts'

export function refuseFractions(schema: z.ZodTypeAny, value: unknown, currency: string): void {
  if (decimalsOf(currency) > 0) return
  const amounts = findMarked(schema, value, (each) => (isStoreAmount(each) ? 'amount' : undefined))
  const issues = amounts.flatMap(({ field, value: amount }) => {
    const issue = findAmountIssue(Number(amount), currency)
    return issue ? [`${field}: ${issue}`] : []
  })
  if (issues.length > 0) throw refuse('bad_request', issues.slice(0, 5).join('; '))
}
