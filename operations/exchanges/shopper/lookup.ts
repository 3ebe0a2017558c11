/** Looks up an order by number and contact, and returns its items with their eligibility. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { equalsInConstantTime } from '#runtime/secrets'
import { emailKey } from '#runtime/values/email'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { computeUnitPrice } from '../requests/amounts.ts'
import { type ReadOrder, readOrder } from '../requests/read-order.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import type { ItemIneligibility, OrderIneligibility, RequestType } from './eligibility.ts'
import { buildOffer, findIneligibility, type Offer } from './offer.ts'
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
    /** Exchanges and returns may have different windows. */
    types: {
      type: RequestType
      windowEndsAt: string
      eligible: boolean
      ineligibleReason: OrderIneligibility | null
    }[]
  }
  items: LookupItem[]
  /** The latest window end of all types. */
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
  ineligibleReason: ItemIneligibility | null
}

/** Refuses an unknown order and a wrong contact with the same 404, so that it does not reveal which orders exist. */
export async function lookUp(ctx: Context, settings: ExchangeContent, given: Lookup): Promise<Offer> {
  const order = await readOrder(ctx, { number: given.orderNumber.replace(/^#\s*/, '') })
  const isTheirs = matchesContact(ctx, order, given.contact)
  if (!order || !isTheirs || given.website) {
    throw refuse('not_found', {
      en: 'No order has this number with this email or phone',
      'pt-BR': 'Nenhum pedido tem este número com este e-mail ou telefone',
      es: 'Ningún pedido tiene este número con este correo o teléfono',
    })
  }
  return buildOffer(ctx, settings, order)
}

/** Whether the contact is the order's. Does the same work if there is no order, so that the time does not reveal it. */
function matchesContact(ctx: Context, order: ReadOrder | null, contact: string): boolean {
  const { email, phone } = order?.customer ?? { email: null, phone: null }
  const givenPhone = parsePhone(contact, ctx.store.country)
  const isEmail = equalsInConstantTime(emailKey(email ?? ''), emailKey(contact) || '?')
  const isPhone = equalsInConstantTime(phone ? phoneKey(phone) : '', givenPhone ? phoneKey(givenPhone) : '?')
  return isEmail || isPhone
}

export function toLookupAnswer(ctx: Context, offer: Offer): LookupAnswer {
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
      types: types.map(({ type, windowEndsAt, ineligibility }) => ({
        type,
        windowEndsAt: windowEndsAt.toISOString(),
        eligible: ineligibility === null,
        ineligibleReason: ineligibility,
      })),
    },
    items: offer.items.map((item) => {
      const ineligibility = findIneligibility(offer, item)
      return {
        orderItemId: item.id,
        productId: item.productId,
        variantId: item.variantId,
        sku: item.sku,
        name: item.name,
        variantName: item.variantName,
        imageUrl: item.imageUrl,
        quantity: item.quantity,
        unitPrice: Number(computeUnitPrice(item.total, item.quantity, order.currency)),
        availableQuantity: item.availableQuantity,
        eligible: ineligibility === null,
        ineligibleReason: ineligibility,
      }
    }),
    windowEndsAt: new Date(lastEnd).toISOString(),
  }
}
