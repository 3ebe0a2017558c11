/** A shopper names an order and its email or phone, and reads what of it can be exchanged or returned. */
import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { equalText } from '#runtime/secrets'
import { emailKey } from '#runtime/values/email'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { unitPriceOf } from '../requests/amounts.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import type { ItemFault, OrderFault, RequestType } from './eligibility.ts'
import { faultOf, type Offer, offerOf } from './offer.ts'
import { type ReadOrder, readOrder } from './read-order.ts'
import type { Lookup } from './schema.ts'
import { issueSession } from './session.ts'

export interface LookupAnswer {
  sessionToken: string
  order: {
    number: string
    placedAt: string
    shippedAt: string | null
    deliveredAt: string | null
    currency: string
    /** Exchanges and returns may have windows of their own. */
    types: {
      type: RequestType
      windowEndsAt: string
      eligible: boolean
      ineligibleReason: OrderFault | null
    }[]
  }
  items: LookupItem[]
  /** Of the type that can be asked for longest. */
  windowEndsAt: string
}

interface LookupItem {
  orderItemId: string
  productId: string | null
  variantId: string | null
  sku: string | null
  name: string
  variantName: string | null
  imageUrl: string | null
  quantity: number
  unitPrice: number
  availableQuantity: number
  eligible: boolean
  ineligibleReason: ItemFault | null
}

/** Refuses (404) alike an order that there is not and a contact that is not its own. */
export async function lookUp(ctx: Context, settings: ExchangeContent, given: Lookup): Promise<Offer> {
  const order = await readOrder(ctx, { number: given.orderNumber.replace(/^#\s*/, '') })
  const isTheirs = isContactOf(ctx, order, given.contact)
  if (!order || !isTheirs || given.website) {
    throw refuse('not_found', {
      en: 'No order has this number with this email or phone',
      'pt-BR': 'Nenhum pedido tem este número com este e-mail ou telefone',
      es: 'Ningún pedido tiene este número con este correo o teléfono',
    })
  }
  return offerOf(ctx, settings, order)
}

/** The same work whether there is an order or not. */
function isContactOf(ctx: Context, order: ReadOrder | null, contact: string): boolean {
  const { email, phone } = order?.customer ?? { email: null, phone: null }
  const givenPhone = parsePhone(contact, ctx.store.country)
  const isEmail = equalText(emailKey(email ?? ''), emailKey(contact) || '?')
  const isPhone = equalText(phone ? phoneKey(phone) : '', givenPhone ? phoneKey(givenPhone) : '?')
  return isEmail || isPhone
}

export function lookupAnswer(ctx: Context, offer: Offer): LookupAnswer {
  const { order, types } = offer
  const lastEnd = Math.max(...types.map(({ windowEndsAt }) => windowEndsAt.getTime()))
  return {
    sessionToken: issueSession(ctx, order.id),
    order: {
      number: order.number,
      placedAt: order.placedAt.toISOString(),
      shippedAt: order.shippedAt?.toISOString() ?? null,
      deliveredAt: order.deliveredAt?.toISOString() ?? null,
      currency: order.currency,
      types: types.map(({ type, windowEndsAt, fault }) => ({
        type,
        windowEndsAt: windowEndsAt.toISOString(),
        eligible: fault === null,
        ineligibleReason: fault,
      })),
    },
    items: offer.items.map((item) => {
      const fault = faultOf(offer, item)
      return {
        orderItemId: item.id,
        productId: item.productId,
        variantId: item.variantId,
        sku: item.sku,
        name: item.name,
        variantName: item.variantName,
        imageUrl: item.imageUrl,
        quantity: item.quantity,
        unitPrice: amounts.toNumber(amounts.toCents(unitPriceOf(item.total, item.quantity))),
        availableQuantity: item.availableQuantity,
        eligible: fault === null,
        ineligibleReason: fault,
      }
    }),
    windowEndsAt: new Date(lastEnd).toISOString(),
  }
}
