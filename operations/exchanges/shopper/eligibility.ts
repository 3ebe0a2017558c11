/** What of an order may be exchanged or returned, and until when (rule 2): pure. */
import { amounts } from '#operations/store/door'
import { addDays, localDay } from '#runtime/values/days'
import { firstInstantOn } from '#runtime/values/wall-clock'
import { inEach, type Wording } from '#runtime/values/wording'
import type { ExchangeContent } from '../settings/schema.ts'

export type RequestType = ExchangeContent['types'][number]

/** Why nothing of an order can be asked for. */
export type OrderFault = 'cancelled' | 'not-paid' | 'refunded' | 'open-request' | 'outside-window'
/** Why an item cannot; those of its order come first. */
export type ItemFault = OrderFault | 'excluded' | 'discounted' | 'no-units-left'

export interface OrderFacts {
  status: string
  paymentStatus: string
  placedAt: Date
  shippedAt: Date | null
  deliveredAt: Date | null
  /** Another request about it is under way. */
  hasOpenRequest: boolean
}

export interface ItemFacts {
  productId: string | null
  /** With those above them; none where the product is not known. */
  categoryIds: readonly string[]
  quantity: number
  refundedQuantity: number
  /** In requests that were not rejected, cancelled or expired. */
  takenQuantity: number
  /** Of these, units that came back and are among the refunded ones. */
  countedOnce: number
  /** Decimal text. */
  unitPrice: string
  total: string
}

type WindowRules = Pick<ExchangeContent, 'windowDays' | 'returnWindowDays' | 'windowFrom'>

/** The last millisecond of the last day, in the store's zone, on which an order may be asked for. */
export function windowEnd(
  order: Pick<OrderFacts, 'placedAt' | 'shippedAt' | 'deliveredAt'>,
  rules: WindowRules,
  type: RequestType,
  timezone: string,
): Date {
  const { placedAt, shippedAt, deliveredAt } = order
  // What the platform does not know falls back to the instant before it.
  const shipped = shippedAt ?? placedAt
  const base = { delivered: deliveredAt ?? shipped, shipped, placed: placedAt }[rules.windowFrom]
  const days = type === 'return' ? (rules.returnWindowDays ?? rules.windowDays) : rules.windowDays
  const next = addDays(localDay(base, timezone), days + 1)
  return new Date(firstInstantOn(next, timezone).getTime() - 1)
}

/** Why nothing of the order can be asked for, whatever its window says; null when something may. */
export function orderFault(
  order: OrderFacts,
  settings: Pick<ExchangeContent, 'oneOpenRequestPerOrder'>,
): OrderFault | null {
  if (order.status === 'cancelled') return 'cancelled'
  if (order.paymentStatus === 'refunded') return 'refunded'
  if (order.paymentStatus !== 'paid' && order.paymentStatus !== 'partially-refunded') return 'not-paid'
  if (settings.oneOpenRequestPerOrder && order.hasOpenRequest) return 'open-request'
  return null
}

/** Units that can still be asked for, never below 0. */
export const availableQuantity = ({
  quantity,
  refundedQuantity,
  takenQuantity,
  countedOnce,
}: ItemFacts): number => Math.max(0, quantity - refundedQuantity - takenQuantity + countedOnce)

/** Why an item cannot be asked for, its order apart; null when it may. */
export function itemFault(
  item: ItemFacts,
  settings: Pick<ExchangeContent, 'excludedProductIds' | 'excludedCategoryIds' | 'excludeDiscountedItems'>,
): ItemFault | null {
  const { productId, categoryIds } = item
  if (productId !== null && settings.excludedProductIds.includes(productId)) return 'excluded'
  if (categoryIds.some((id) => settings.excludedCategoryIds.includes(id))) return 'excluded'
  if (settings.excludeDiscountedItems && isDiscounted(item)) return 'discounted'
  if (availableQuantity(item) === 0) return 'no-units-left'
  return null
}

/** Whether a line was paid with less than its units cost. */
const isDiscounted = ({ total, unitPrice, quantity }: ItemFacts): boolean =>
  amounts.toCents(total) < amounts.toCents(unitPrice) * BigInt(quantity)

const words: Record<Exclude<ItemFault, 'outside-window'>, Wording> = {
  cancelled: {
    en: 'The order was cancelled',
    'pt-BR': 'O pedido foi cancelado',
    es: 'El pedido se canceló',
  },
  'not-paid': {
    en: 'The order is not paid yet',
    'pt-BR': 'O pedido ainda não foi pago',
    es: 'El pedido aún no está pagado',
  },
  refunded: {
    en: 'The order was paid back already',
    'pt-BR': 'O pedido já foi reembolsado',
    es: 'El pedido ya se reembolsó',
  },
  'open-request': {
    en: 'There is an open request for this order already',
    'pt-BR': 'Já existe uma solicitação aberta para este pedido',
    es: 'Ya hay una solicitud abierta para este pedido',
  },
  excluded: {
    en: 'This item is not part of exchanges and returns',
    'pt-BR': 'Este produto não pode ser trocado nem devolvido',
    es: 'Este artículo no admite cambios ni devoluciones',
  },
  discounted: {
    en: 'Discounted items cannot be exchanged or returned',
    'pt-BR': 'Produtos com desconto não podem ser trocados nem devolvidos',
    es: 'Los artículos con descuento no se pueden cambiar ni devolver',
  },
  'no-units-left': {
    en: 'All units are in other requests, or were paid back',
    'pt-BR': 'Todas as unidades estão em outras solicitações, ou já foram reembolsadas',
    es: 'Todas las unidades están en otras solicitudes o ya se reembolsaron',
  },
}

/** A fault in a sentence that a shopper reads; `outsideWindowMessage`: the merchant's. */
export const faultWords = (fault: ItemFault, outsideWindowMessage: string): Wording =>
  fault === 'outside-window' ? inEach(() => outsideWindowMessage) : words[fault]
