import type { CardSummary } from './provider/port.ts'

/** What may be kept and shown of a card, whatever a provider sent with it. */
export function cardOf(value: unknown): CardSummary | null {
  if (!value) return null
  const { brand, last4, expMonth, expYear } = value as CardSummary
  return { brand, last4, expMonth, expYear }
}
