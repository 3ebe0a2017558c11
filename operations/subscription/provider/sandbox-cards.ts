/** The test cards of the sandbox. What leaves this file is the brand and the last four digits, never a number. */
import type { CardSummary } from './port.ts'

const known = new Set(['4242424242424242', '4000000000000002', '4000000000000341', '4000000000000259'])

/** As the form of the checkout page has them. */
export interface CardInput {
  cardNumber: string
  holder: string
  expMonth: string
  expYear: string
}

/** The card, or what is wrong by field, in words for the payer. `now`: a card is good to the end of its month. */
export function readCard(
  input: CardInput,
  now: Date,
): { card: CardSummary } | { faults: Partial<Record<keyof CardInput, string>> } {
  const faults: Partial<Record<keyof CardInput, string>> = {}
  const number = input.cardNumber.replace(/[ -]/g, '')
  if (!known.has(number)) faults.cardNumber = 'This is none of the test cards listed below.'
  const holder = input.holder.trim()
  if (holder === '' || holder.length > 120) faults.holder = 'Type the name on the card.'
  const expMonth = /^\d{1,2}$/.test(input.expMonth.trim()) ? Number(input.expMonth) : 0
  if (expMonth < 1 || expMonth > 12) faults.expMonth = 'Type a month from 1 to 12.'
  const expYear = yearOf(input.expYear.trim())
  if (expYear === null) faults.expYear = 'Type the year with four digits.'
  else if (!faults.expMonth && Date.UTC(expYear, expMonth) <= now.getTime()) {
    faults.expYear = 'This card has expired.'
  }
  if (Object.keys(faults).length > 0) return { faults }
  return { card: { brand: 'visa', last4: number.slice(-4), expMonth, expYear: expYear! } }
}

function yearOf(text: string): number | null {
  if (/^\d{4}$/.test(text)) return Number(text)
  return /^\d{2}$/.test(text) ? 2000 + Number(text) : null
}

/** Whether the card is declined: `0002` by its payer's bank always, `0341` once its payer is gone. */
export const isDeclined = (card: CardSummary, isPayerThere: boolean): boolean =>
  card.last4 === '0002' || (card.last4 === '0341' && !isPayerThere)

/** Whether its payments are charged back a day later. */
export const isChargedBack = (card: CardSummary): boolean => card.last4 === '0259'

export const declined = 'card-declined'
