/** Whether what a shopper asks for fits the store's settings and the order: pure, each refusal in a sentence. */
import { refuse } from '#runtime/errors'
import { type PublicReason, publicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { faultWords } from './eligibility.ts'
import type { Offer, OfferedItem, OfferedType } from './offer.ts'
import type { AskedItem, Submission } from './schema.ts'
import type { Variant } from './variants.ts'

export interface CheckedItem {
  asked: AskedItem
  /** Places of the units in the line. */
  places: readonly number[]
  item: OfferedItem
  reason: PublicReason
  /** Null on a return. */
  exchangeFor: Variant | null
}

/** What the form itself must have, before the order is looked at. Refuses with 400. */
export function refuseUnfit(settings: ExchangeContent, submission: Submission): void {
  const { type, items, photoUrls = [], comment } = submission
  const { reasons, returnMethods, refundMethods, maxPhotos } = publicSettings(settings)
  if (photoUrls.length > maxPhotos) throw bad('photoUrls', `must have at most ${maxPhotos}`)
  if (!returnMethods.some(({ method }) => method === submission.returnMethod)) {
    throw bad('returnMethod', 'is not offered by this store')
  }
  if (type === 'exchange' && submission.refundMethod !== undefined) {
    throw bad('refundMethod', 'is of returns only')
  }
  if (submission.refundMethod !== undefined && !refundMethods.includes(submission.refundMethod)) {
    throw bad('refundMethod', 'is not offered by this store')
  }
  for (const [at, item] of items.entries()) {
    const reason = reasons.find(({ key, types }) => key === item.reason && types.includes(type))
    if (!reason) throw bad(`items.${at}.reason`, `is none of the reasons for ${plural[type]}`)
    if (reason.requiresPhoto && photoUrls.length === 0) {
      throw bad('photoUrls', `the reason "${reason.label}" needs a photo`)
    }
    if (reason.requiresComment && !item.comment && !comment) {
      throw bad(`items.${at}.comment`, `the reason "${reason.label}" needs a comment`)
    }
    if (type === 'exchange' && item.exchangeForVariantId === undefined) {
      throw bad(`items.${at}.exchangeForVariantId`, 'is required on an exchange')
    }
    if (type === 'return' && item.exchangeForVariantId !== undefined) {
      throw bad(`items.${at}.exchangeForVariantId`, 'is of exchanges only')
    }
  }
}

const plural = { exchange: 'exchanges', return: 'returns' } as const

/**
 * The items with what they are asked for. Refuses with 400 what names nothing, with 409 what the order or the store
 * does not allow now.
 */
export function checkedItems(
  settings: ExchangeContent,
  offer: Offer,
  submission: Submission,
  variants: ReadonlyMap<string, Variant>,
): { offered: OfferedType; items: CheckedItem[] } {
  const { type } = submission
  const offered = offer.types.find((each) => each.type === type)
  if (!offered) throw refuse('conflict', `This store does not take ${plural[type]}`)
  const { outsideWindowMessage } = settings.texts
  if (offered.fault) throw refuse('conflict', faultWords(offered.fault, outsideWindowMessage))
  const { reasons } = publicSettings(settings)
  const left = new Map(offer.items.map((item) => [item.id, item.places.slice(0, item.availableQuantity)]))
  const stock = new Map<string, number>()
  const items = submission.items.map((asked, at): CheckedItem => {
    const item = offer.items.find(({ id }) => id === asked.orderItemId)
    if (!item) throw bad(`items.${at}.orderItemId`, 'is no item of this order')
    if (item.fault) throw refuse('conflict', `${item.name}: ${faultWords(item.fault, outsideWindowMessage)}`)
    const available = left.get(item.id)!
    if (asked.quantity > available.length) {
      throw refuse(
        'conflict',
        `${item.name}: only ${available.length} of ${item.quantity} can still be asked for`,
      )
    }
    const places = available.splice(0, asked.quantity)
    const reason = reasons.find(({ key }) => key === asked.reason)!
    const exchangeFor =
      type === 'return' ? null : wantedVariant(settings, offer.order, item, asked, at, variants)
    if (exchangeFor) takeStock(stock, exchangeFor, asked.quantity)
    return { asked, places, item, reason, exchangeFor }
  })
  return { offered, items }
}

function wantedVariant(
  settings: ExchangeContent,
  { currency }: Offer['order'],
  item: OfferedItem,
  asked: AskedItem,
  at: number,
  variants: ReadonlyMap<string, Variant>,
): Variant {
  const field = `items.${at}.exchangeForVariantId`
  const variant = variants.get(asked.exchangeForVariantId!)
  if (!variant) throw bad(field, 'there is no such variant')
  if (variant.variantId === item.variantId) throw bad(field, 'must be another variant')
  if (settings.exchangeScope === 'same-product' && variant.productId !== item.productId) {
    throw bad(field, 'must be a variant of the same product')
  }
  if (variant.currency !== currency) {
    throw bad(
      field,
      `is sold in ${variant.currency}, and the order was paid in ${currency}: ask for a return`,
    )
  }
  if (!variant.isAvailable) {
    throw refuse('conflict', `${variant.name}, ${variant.variantName}: is not available now`)
  }
  return variant
}

/** Units of a variant that the request's items want, one after the other. Refuses (409) more than there are. */
function takeStock(taken: Map<string, number>, variant: Variant, quantity: number): void {
  const { variantId, name, variantName, stock } = variant
  const all = (taken.get(variantId) ?? 0) + quantity
  if (stock !== null && all > stock) {
    throw refuse('conflict', `${name}, ${variantName}: only ${Math.max(0, stock)} available now`)
  }
  taken.set(variantId, all)
}

const bad = (field: string, fault: string) => refuse('bad_request', `${field}: ${fault}`)
