/** Whether what a shopper asks for fits the store's settings and the order: pure, each refusal in a sentence. */
import { refuse } from '#runtime/errors'
import { inEach, type Wording } from '#runtime/values/wording'
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
  if (photoUrls.length > maxPhotos)
    throw bad('photoUrls', {
      en: `must have at most ${maxPhotos}`,
      'pt-BR': `no máximo ${maxPhotos}`,
      es: `como máximo ${maxPhotos}`,
    })
  if (!returnMethods.some(({ method }) => method === submission.returnMethod)) {
    throw bad('returnMethod', notOffered)
  }
  if (type === 'exchange' && submission.refundMethod !== undefined) {
    throw bad('refundMethod', {
      en: 'is of returns only',
      'pt-BR': 'só vale para devoluções',
      es: 'solo vale para devoluciones',
    })
  }
  if (submission.refundMethod !== undefined && !refundMethods.includes(submission.refundMethod)) {
    throw bad('refundMethod', notOffered)
  }
  for (const [at, item] of items.entries()) {
    const reason = reasons.find(({ key, types }) => key === item.reason && types.includes(type))
    if (!reason)
      throw bad(
        `items.${at}.reason`,
        inEach((say) => say(noReason).replace('{{type}}', say(plural[type]))),
      )
    if (reason.requiresPhoto && photoUrls.length === 0) {
      throw bad('photoUrls', {
        en: `the reason "${reason.label}" needs a photo`,
        'pt-BR': `o motivo "${reason.label}" precisa de uma foto`,
        es: `el motivo "${reason.label}" necesita una foto`,
      })
    }
    if (reason.requiresComment && !item.comment && !comment) {
      throw bad(`items.${at}.comment`, {
        en: `the reason "${reason.label}" needs a comment`,
        'pt-BR': `o motivo "${reason.label}" precisa de um comentário`,
        es: `el motivo "${reason.label}" necesita un comentario`,
      })
    }
    if (type === 'exchange' && item.exchangeForVariantId === undefined) {
      throw bad(`items.${at}.exchangeForVariantId`, {
        en: 'is required on an exchange',
        'pt-BR': 'é obrigatório em uma troca',
        es: 'es obligatorio en un cambio',
      })
    }
    if (type === 'return' && item.exchangeForVariantId !== undefined) {
      throw bad(`items.${at}.exchangeForVariantId`, {
        en: 'is of exchanges only',
        'pt-BR': 'só vale para trocas',
        es: 'solo vale para cambios',
      })
    }
  }
}

const plural = {
  exchange: { en: 'exchanges', 'pt-BR': 'trocas', es: 'cambios' },
  return: { en: 'returns', 'pt-BR': 'devoluções', es: 'devoluciones' },
} as const
const notOffered = {
  en: 'is not offered by this store',
  'pt-BR': 'não é oferecido por esta loja',
  es: 'no se ofrece en esta tienda',
}
const noReason = {
  en: 'is none of the reasons for {{type}}',
  'pt-BR': 'não é um dos motivos de {{type}}',
  es: 'no es ninguno de los motivos de {{type}}',
}
const notTaken = {
  en: 'This store does not take {{type}}',
  'pt-BR': 'Esta loja não aceita {{type}}',
  es: 'Esta tienda no acepta {{type}}',
}

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
  if (!offered)
    throw refuse(
      'conflict',
      inEach((say) => say(notTaken).replace('{{type}}', say(plural[type]))),
    )
  const { outsideWindowMessage } = settings.texts
  if (offered.fault) throw refuse('conflict', faultWords(offered.fault, outsideWindowMessage))
  const { reasons } = publicSettings(settings)
  const given = new Map<string, number>()
  const stock = new Map<string, number>()
  const items = submission.items.map((asked, at): CheckedItem => {
    const item = offer.items.find(({ id }) => id === asked.orderItemId)
    if (!item)
      throw bad(`items.${at}.orderItemId`, {
        en: 'is no item of this order',
        'pt-BR': 'não é deste pedido',
        es: 'no es de este pedido',
      })
    if (item.fault) {
      const words = faultWords(item.fault, outsideWindowMessage)
      throw refuse(
        'conflict',
        inEach((say) => `${item.name}: ${say(words)}`),
      )
    }
    const before = given.get(item.id) ?? 0
    const upTo = Math.min(before + asked.quantity, item.availableQuantity)
    const places = item.places(upTo).slice(before)
    if (asked.quantity > places.length) {
      const { length: left } = places
      throw refuse('conflict', {
        en: `${item.name}: only ${left} of ${item.quantity} can still be asked for`,
        'pt-BR': `${item.name}: só ${left} de ${item.quantity} ainda podem ser solicitados`,
        es: `${item.name}: solo ${left} de ${item.quantity} se pueden solicitar todavía`,
      })
    }
    given.set(item.id, upTo)
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
  if (!variant) throw bad(field, { en: 'there is no such variant', 'pt-BR': 'não existe', es: 'no existe' })
  if (variant.variantId === item.variantId)
    throw bad(field, {
      en: 'must be another variant',
      'pt-BR': 'deve ser outra variante',
      es: 'debe ser otra variante',
    })
  if (settings.exchangeScope === 'same-product' && variant.productId !== item.productId) {
    throw bad(field, {
      en: 'must be a variant of the same product',
      'pt-BR': 'deve ser uma variante do mesmo produto',
      es: 'debe ser una variante del mismo producto',
    })
  }
  if (variant.currency !== currency) {
    throw bad(field, {
      en: `is sold in ${variant.currency}, and the order was paid in ${currency}: ask for a return`,
      'pt-BR': `é vendido em ${variant.currency}, e o pedido foi pago em ${currency}: peça uma devolução`,
      es: `se vende en ${variant.currency}, y el pedido se pagó en ${currency}: pide una devolución`,
    })
  }
  if (!variant.isAvailable) {
    throw refuse('conflict', {
      en: `${variant.name}, ${variant.variantName}: is not available now`,
      'pt-BR': `${variant.name}, ${variant.variantName}: não está disponível agora`,
      es: `${variant.name}, ${variant.variantName}: no está disponible ahora`,
    })
  }
  return variant
}

/** Units of a variant that the request's items want, one after the other. Refuses (409) more than there are. */
function takeStock(taken: Map<string, number>, variant: Variant, quantity: number): void {
  const { variantId, name, variantName, stock } = variant
  const all = (taken.get(variantId) ?? 0) + quantity
  if (stock !== null && all > stock) {
    const left = Math.max(0, stock)
    throw refuse('conflict', {
      en: `${name}, ${variantName}: only ${left} available now`,
      'pt-BR': `${name}, ${variantName}: só ${left} disponíveis agora`,
      es: `${name}, ${variantName}: solo ${left} disponibles ahora`,
    })
  }
  taken.set(variantId, all)
}

const bad = (field: string, fault: Wording) =>
  refuse(
    'bad_request',
    inEach((say) => `${field}: ${say(fault)}`),
  )
