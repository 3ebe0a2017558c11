import type { CardSummary } from './provider/port.ts'

/** Keeps only the card fields that may be stored and shown, whatever else the provider sent. */
export function toCardSummary(value: unknown): CardSummary | null {
  if (!value) return null
  const { brand, last4, expMonth, expYear } = value as CardSummary
  return { brand, last4, expMonth, expYear }
}
