/** Eligibility of an order and its items for exchange or return (rule 2). Pure. */
import { amounts } from '#operations/store/index'
import { addDays, localDay } from '#runtime/values/days'
import { getFirstInstant } from '#runtime/values/wall-clock'
import { buildWording, type Wording } from '#runtime/values/wording'
import type { ExchangeContent } from '../settings/schema.ts'

export type RequestType = ExchangeContent['types'][number]

/** The reason why no item of an order is eligible. */
export type OrderIneligibility = 'cancelled' | 'not-paid' | 'refunded' | 'open-request' | 'outside-window'
/** The reason why an item is not eligible. A reason that concerns the whole order takes precedence. */
export type ItemIneligibility = OrderIneligibility | 'excluded' | 'discounted' | 'no-units-left'

export interface OrderFacts {
  status: string
  paymentStatus: string
  placedAt: Date
  shippedAt: Date | null
  deliveredAt: Date | null
  /** Whether another request for the order is open. */
  hasOpenRequest: boolean
}

export interface ItemFacts {
  productId: string | null
  /** The product's categories and all their ancestors; empty when the product is unknown. */
  categoryIds: readonly string[]
  quantity: number
  refundedQuantity: number
  /** Number of units in requests that were not rejected, cancelled or expired. */
  takenQuantity: number
  /** Number of the taken units that came back and are also refunded at the platform. */
  countedOnce: number
  /** Decimal text. */
  unitPrice: string
  total: string
}

type WindowRules = Pick<ExchangeContent, 'windowDays' | 'returnWindowDays' | 'windowFrom'>

/** The end of the request window: the last millisecond of its last day, in the store's time zone. */
export function computeWindowEnd(
  order: Pick<OrderFacts, 'placedAt' | 'shippedAt' | 'deliveredAt'>,
  rules: WindowRules,
  type: RequestType,
  timezone: string,
): Date {
  const { placedAt, shippedAt, deliveredAt } = order
  // If the platform does not know when the order was delivered, the window starts when it was shipped, else when it was
  // placed.
  const shipped = shippedAt ?? placedAt
  const base = { delivered: deliveredAt ?? shipped, shipped, placed: placedAt }[rules.windowFrom]
  const days = type === 'return' ? (rules.returnWindowDays ?? rules.windowDays) : rules.windowDays
  const next = addDays(localDay(base, timezone), days + 1)
  return new Date(getFirstInstant(next, timezone).getTime() - 1)
}

/** The reason why the whole order is not eligible, without considering the window; null when it is eligible. */
export function findOrderIneligibility(
  order: OrderFacts,
  settings: Pick<ExchangeContent, 'oneOpenRequestPerOrder'>,
): OrderIneligibility | null {
  if (order.status === 'cancelled') return 'cancelled'
  if (order.paymentStatus === 'refunded') return 'refunded'
  if (order.paymentStatus !== 'paid' && order.paymentStatus !== 'partially-refunded') return 'not-paid'
  if (settings.oneOpenRequestPerOrder && order.hasOpenRequest) return 'open-request'
  return null
}

/** Units that can still be requested, never below 0. */
export const computeAvailableQuantity = ({
  quantity,
  refundedQuantity,
  takenQuantity,
  countedOnce,
}: ItemFacts): number => Math.max(0, quantity - refundedQuantity - takenQuantity + countedOnce)

/** The reason why an item itself is not eligible, without considering its order; null when it is eligible. */
export function findItemIneligibility(
  item: ItemFacts,
  settings: Pick<ExchangeContent, 'excludedProductIds' | 'excludedCategoryIds' | 'excludeDiscountedItems'>,
): ItemIneligibility | null {
  const { productId, categoryIds } = item
  if (productId !== null && settings.excludedProductIds.includes(productId)) return 'excluded'
  if (categoryIds.some((id) => settings.excludedCategoryIds.includes(id))) return 'excluded'
  if (settings.excludeDiscountedItems && isDiscounted(item)) return 'discounted'
  if (computeAvailableQuantity(item) === 0) return 'no-units-left'
  return null
}

/** Whether the shopper paid less for a line than the sum of its unit prices. */
const isDiscounted = ({ total, unitPrice, quantity }: ItemFacts): boolean =>
  amounts.hundredths.toCents(total) < amounts.hundredths.toCents(unitPrice) * BigInt(quantity)

const words: Record<Exclude<ItemIneligibility, 'outside-window'>, Wording> = {
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

/** The explanation for the shopper. `outsideWindowMessage` is the merchant's own text for `outside-window`. */
export const describeIneligibility = (fault: ItemIneligibility, outsideWindowMessage: string): Wording =>
  fault === 'outside-window' ? buildWording(() => outsideWindowMessage) : words[fault]
