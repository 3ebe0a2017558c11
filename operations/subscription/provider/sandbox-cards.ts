/** The test cards of the sandbox. Only brand, last four digits and expiry leave this file, never a card number. */
import type { CardSummary } from './port.ts'

const testCards = new Set(['4242424242424242', '4000000000000002', '4000000000000341', '4000000000000259'])

/** The fields of the checkout form, as typed by the payer. */
export interface CardInput {
  cardNumber: string
  holder: string
  expMonth: string
  expYear: string
}

/** Returns the parsed card, or messages for the payer by field. A card is valid to the end of its expiry month. */
export function readCard(
  input: CardInput,
  now: Date,
): { card: CardSummary } | { faults: Partial<Record<keyof CardInput, string>> } {
  const faults: Partial<Record<keyof CardInput, string>> = {}
  const number = input.cardNumber.replace(/[ -]/g, '')
  if (!testCards.has(number)) faults.cardNumber = 'Use one of the test cards listed below.'
  const holder = input.holder.trim()
  if (holder === '' || holder.length > 120) faults.holder = 'Type the name on the card.'
  const expMonth = /^\d{1,2}$/.test(input.expMonth.trim()) ? Number(input.expMonth) : 0
  if (expMonth < 1 || expMonth > 12) faults.expMonth = 'Type a month from 1 to 12.'
  const expYear = parseYear(input.expYear.trim())
  if (expYear === null) faults.expYear = 'Type the year with four digits.'
  else if (!faults.expMonth && Date.UTC(expYear, expMonth) <= now.getTime()) {
    faults.expYear = 'This card has expired.'
  }
  if (Object.keys(faults).length > 0) return { faults }
  return { card: { brand: 'visa', last4: number.slice(-4), expMonth, expYear: expYear! } }
}

function parseYear(text: string): number | null {
  if (/^\d{4}$/.test(text)) return Number(text)
  return /^\d{2}$/.test(text) ? 2000 + Number(text) : null
}

/** Whether the card is declined. Card `0002` is always declined, `0341` only for charges without the payer present. */
export const isDeclined = (card: CardSummary, isPayerThere: boolean): boolean =>
  card.last4 === '0002' || (card.last4 === '0341' && !isPayerThere)

/** Whether payments with this card are charged back a day later. */
export const isChargedBack = (card: CardSummary): boolean => card.last4 === '0259'

export const declined = 'card-declined'
