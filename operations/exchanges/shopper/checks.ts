/** Validates a submission against the settings and the order. Pure; every error message is written for the shopper. */
import { refuse } from '#runtime/errors'
import { buildWording, type Wording } from '#runtime/values/wording'
import { type PublicReason, toPublicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { describeIneligibility } from './eligibility.ts'
import type { Offer, OfferedItem, OfferedType } from './offer.ts'
import type { AskedItem, Submission } from './schema.ts'
import type { Variant } from './variants.ts'

export interface CheckedItem {
  requested: AskedItem
  /** Indexes of the units within the line. */
  places: readonly number[]
  item: OfferedItem
  reason: PublicReason
  /** Null on a return. */
  exchangeFor: Variant | null
}

/** Validates the form itself, before the order is read. Refuses with 400. */
export function validateForm(settings: ExchangeContent, submission: Submission): void {
  const { type, items, photoUrls = [], comment } = submission
  const { reasons, returnMethods, refundMethods, maxPhotos } = toPublicSettings(settings)
  if (photoUrls.length > maxPhotos)
    throw refuseField('photoUrls', {
      en: `must have at most ${maxPhotos}`,
      'pt-BR': `no máximo ${maxPhotos}`,
      es: `como máximo ${maxPhotos}`,
    })
  if (!returnMethods.some(({ method }) => method === submission.returnMethod)) {
    throw refuseField('returnMethod', notOffered)
  }
  if (type === 'exchange' && submission.refundMethod !== undefined) {
    throw refuseField('refundMethod', {
      en: 'is of returns only',
      'pt-BR': 'só vale para devoluções',
      es: 'solo vale para devoluciones',
    })
  }
  if (submission.refundMethod !== undefined && !refundMethods.includes(submission.refundMethod)) {
    throw refuseField('refundMethod', notOffered)
  }
  for (const [at, item] of items.entries()) {
    const reason = reasons.find(({ key, types }) => key === item.reason && types.includes(type))
    if (!reason)
      throw refuseField(
        `items.${at}.reason`,
        buildWording((say) => say(noReason).replace('{{type}}', say(plural[type]))),
      )
    if (reason.requiresPhoto && photoUrls.length === 0) {
      throw refuseField('photoUrls', {
        en: `the reason "${reason.label}" needs a photo`,
        'pt-BR': `o motivo "${reason.label}" precisa de uma foto`,
        es: `el motivo "${reason.label}" necesita una foto`,
      })
    }
    if (reason.requiresComment && !item.comment && !comment) {
      throw refuseField(`items.${at}.comment`, {
        en: `the reason "${reason.label}" needs a comment`,
        'pt-BR': `o motivo "${reason.label}" precisa de um comentário`,
        es: `el motivo "${reason.label}" necesita un comentario`,
      })
    }
    if (type === 'exchange' && item.exchangeForVariantId === undefined) {
      throw refuseField(`items.${at}.exchangeForVariantId`, {
        en: 'is required on an exchange',
        'pt-BR': 'é obrigatório em uma troca',
        es: 'es obligatorio en un cambio',
      })
    }
    if (type === 'return' && item.exchangeForVariantId !== undefined) {
      throw refuseField(`items.${at}.exchangeForVariantId`, {
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
  en: 'must be one of the reasons for {{type}}',
  'pt-BR': 'deve ser um dos motivos de {{type}}',
  es: 'debe ser uno de los motivos de {{type}}',
}
const notTaken = {
  en: 'This store does not take {{type}}',
  'pt-BR': 'Esta loja não aceita {{type}}',
  es: 'Esta tienda no acepta {{type}}',
}

/**
 * Resolves the requested items. Refuses an unknown item, reason or variant (400), and a request that the order or the store
 * does not allow now (409).
 */
export function checkItems(
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
      buildWording((say) => say(notTaken).replace('{{type}}', say(plural[type]))),
    )
  const { outsideWindowMessage } = settings.texts
  if (offered.ineligibility)
    throw refuse('conflict', describeIneligibility(offered.ineligibility, outsideWindowMessage))
  const { reasons } = toPublicSettings(settings)
  const given = new Map<string, number>()
  const stock = new Map<string, number>()
  const items = submission.items.map((requested, at): CheckedItem => {
    const item = offer.items.find(({ id }) => id === requested.orderItemId)
    if (!item)
      throw refuseField(`items.${at}.orderItemId`, {
        en: 'is no item of this order',
        'pt-BR': 'não é deste pedido',
        es: 'no es de este pedido',
      })
    if (item.ineligibility) {
      const words = describeIneligibility(item.ineligibility, outsideWindowMessage)
      throw refuse(
        'conflict',
        buildWording((say) => `${item.name}: ${say(words)}`),
      )
    }
    const before = given.get(item.id) ?? 0
    const upTo = Math.min(before + requested.quantity, item.availableQuantity)
    const places = item.places(upTo).slice(before)
    if (requested.quantity > places.length) {
      const { length: remaining } = places
      throw refuse('conflict', {
        en: `${item.name}: only ${remaining} of ${item.quantity} can still be asked for`,
        'pt-BR': `${item.name}: só ${remaining} de ${item.quantity} ainda podem ser solicitados`,
        es: `${item.name}: solo ${remaining} de ${item.quantity} se pueden solicitar todavía`,
      })
    }
    given.set(item.id, upTo)
    const reason = reasons.find(({ key }) => key === requested.reason)!
    const exchangeFor =
      type === 'return' ? null : requireVariant(settings, offer.order, item, requested, at, variants)
    if (exchangeFor) reserveStock(stock, exchangeFor, requested.quantity)
    return { requested, places, item, reason, exchangeFor }
  })
  return { offered, items }
}

function requireVariant(
  settings: ExchangeContent,
  { currency }: Offer['order'],
  item: OfferedItem,
  requested: AskedItem,
  at: number,
  variants: ReadonlyMap<string, Variant>,
): Variant {
  const field = `items.${at}.exchangeForVariantId`
  const variant = variants.get(requested.exchangeForVariantId!)
  if (!variant)
    throw refuseField(field, { en: 'there is no such variant', 'pt-BR': 'não existe', es: 'no existe' })
  if (variant.variantId === item.variantId)
    throw refuseField(field, {
      en: 'must be another variant',
      'pt-BR': 'deve ser outra variante',
      es: 'debe ser otra variante',
    })
  if (settings.exchangeScope === 'same-product' && variant.productId !== item.productId) {
    throw refuseField(field, {
      en: 'must be a variant of the same product',
      'pt-BR': 'deve ser uma variante do mesmo produto',
      es: 'debe ser una variante del mismo producto',
    })
  }
  if (variant.currency !== currency) {
    throw refuseField(field, {
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

/** Adds up a variant's units over the items of this request in `taken`. Refuses (409) more units than the stock. */
function reserveStock(taken: Map<string, number>, variant: Variant, quantity: number): void {
  const { variantId, name, variantName, stock } = variant
  const all = (taken.get(variantId) ?? 0) + quantity
  if (stock !== null && all > stock) {
    const remaining = Math.max(0, stock)
    throw refuse('conflict', {
      en: `${name}, ${variantName}: only ${remaining} available now`,
      'pt-BR': `${name}, ${variantName}: só ${remaining} disponíveis agora`,
      es: `${name}, ${variantName}: solo ${remaining} disponibles ahora`,
    })
  }
  taken.set(variantId, all)
}

const refuseField = (field: string, fault: Wording) =>
  refuse(
    'bad_request',
    buildWording((say) => `${field}: ${say(fault)}`),
  )
