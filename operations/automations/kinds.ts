/** What each type of automation is (rule 1), as data. */
import { defaultTexts, defaultTitles, languageOf } from './default-texts.ts'
import type { AutomationMessage, AutomationType, Conditions, QuietHours } from './types.ts'

/** When what the run is about happened: a column of `carts` or `orders`, or the instant of the scan. */
type OccurredAt =
  | 'last_activity_at'
  | 'placed_at'
  | 'paid_at'
  | 'shipped_at'
  | 'delivered_at'
  | 'cancelled_at'
  | 'scan'

export interface Kind {
  /** `trigger.event` of its executions. */
  event: string
  entityType: 'cart' | 'order' | 'customer'
  occurredAt: OccurredAt
  /** Minutes. */
  delay: number
  leastDelay: number
  isPromotional: boolean
  /** Conditions it knows; the others stay at their default. */
  conditions: ReadonlySet<keyof Conditions>
  skipIfPurchased: boolean
  /** How far back execute looks; null where its settings or its own rule say. */
  executeDays: number | null
  /** Variables its texts know; those of a coupon only after one was made. */
  variables: readonly string[]
  /** What `{{…}}` of a coupon it knows. */
  couponVariables: readonly string[]
  /** Its coupon is its own, made for each run: `coupon` stays null. */
  hasOwnCoupon: boolean
  settings: Readonly<Record<string, string | number | null>>
  /** How late a message may leave that is bound to its moment, quiet hours apart; null: it is bound to none. */
  latestHours: number | null
}

const cartConditions: (keyof Conditions)[] = [
  'minAmount',
  'maxAmount',
  'productIds',
  'excludedProductIds',
  'categoryIds',
  'customers',
  'cooldownHours',
]
const ofCarts = new Set(cartConditions)
const ofOrders = new Set<keyof Conditions>([...cartConditions, 'paymentMethods'])
const ofCustomers = new Set<keyof Conditions>(['cooldownHours'])

const common = ['customerName', 'name', 'firstName', 'phone', 'email', 'storeName', 'storeUrl']
const cartVariables = [...common, 'cartUrl', 'cartTotal', 'cartItems', 'productName']
const orderVariables = [
  ...common,
  'orderNumber',
  'orderTotal',
  'orderItems',
  'orderUrl',
  'productName',
  'paymentMethod',
  'paymentUrl',
  'trackingCode',
  'trackingUrl',
]
/** What any coupon fills in: the newest one. */
export const couponVariables: readonly string[] = ['couponCode', 'couponValue', 'couponExpiresAt']
/** What the coupon that is the cashback of an order fills in, whichever came after it. */
export const cashbackVariables: readonly string[] = ['cashbackAmount']

const orderKind = (event: string, occurredAt: OccurredAt, own: Partial<Kind> = {}): Kind => ({
  event,
  entityType: 'order',
  occurredAt,
  delay: 0,
  leastDelay: 0,
  isPromotional: false,
  conditions: ofOrders,
  skipIfPurchased: false,
  executeDays: 3,
  variables: orderVariables,
  couponVariables,
  hasOwnCoupon: false,
  settings: {},
  latestHours: 24,
  ...own,
})

/** As welcome some days later. */
const promotional = { isPromotional: true, executeDays: 30, latestHours: null }

export const kinds: Readonly<Record<AutomationType, Kind>> = {
  'abandoned-cart': {
    ...orderKind('cart-abandoned', 'last_activity_at'),
    entityType: 'cart',
    delay: 60,
    leastDelay: 15,
    isPromotional: true,
    conditions: ofCarts,
    skipIfPurchased: true,
    executeDays: 7,
    variables: cartVariables,
  },
  'order-created': orderKind('order-created', 'placed_at'),
  'payment-reminder': orderKind('order-created', 'placed_at', {
    delay: 60,
    leastDelay: 5,
    skipIfPurchased: true,
    executeDays: 7,
  }),
  'order-paid': orderKind('order-paid', 'paid_at'),
  'order-shipped': orderKind('order-shipped', 'shipped_at'),
  'order-delivered': orderKind('order-delivered', 'delivered_at'),
  'order-cancelled': orderKind('order-cancelled', 'cancelled_at'),
  'post-purchase': orderKind('order-paid', 'paid_at', { ...promotional, delay: 4320 }),
  'review-request': orderKind('order-delivered', 'delivered_at', { ...promotional, delay: 10_080 }),
  cashback: orderKind('order-paid', 'paid_at', {
    ...promotional,
    delay: 1440,
    hasOwnCoupon: true,
    couponVariables: [...couponVariables, ...cashbackVariables],
    settings: { percent: 10, maxAmount: null, minimumAmount: null, validDays: 30, prefix: 'CASH' },
  }),
  'win-back': {
    ...orderKind('customer-inactive', 'scan'),
    entityType: 'customer',
    isPromotional: true,
    conditions: ofCustomers,
    skipIfPurchased: true,
    executeDays: null,
    variables: [...orderVariables, 'daysSinceOrder'],
    settings: { inactiveDays: 60, sendAt: '10:00' },
    latestHours: null,
  },
  birthday: {
    ...orderKind('birthday', 'scan'),
    entityType: 'customer',
    isPromotional: true,
    conditions: ofCustomers,
    executeDays: null,
    variables: common,
    settings: { daysBefore: 0, sendAt: '09:00' },
  },
}

/** Settings of the types that have some. */
export interface WinBackSettings {
  inactiveDays: number
  /** `HH:mm` of the store's zone. */
  sendAt: string
}
export interface BirthdaySettings {
  daysBefore: number
  sendAt: string
}
export interface CashbackSettings {
  percent: number
  maxAmount: number | null
  minimumAmount: number | null
  validDays: number
  prefix: string
}

/** What a run is entered under, once for ever. */
export const entryKeys = {
  cart: (cartId: string): string => `cart:${cartId}`,
  order: (orderId: string): string => `order:${orderId}`,
  winBack: (customerId: string, lastOrderId: string): string => `customer:${customerId}:${lastOrderId}`,
  birthday: (customerId: string, year: number): string => `customer:${customerId}:${year}`,
}

export const noConditions = (type: AutomationType): Conditions => ({
  minAmount: null,
  maxAmount: null,
  productIds: [],
  excludedProductIds: [],
  categoryIds: [],
  paymentMethods: [],
  customers: 'all',
  cooldownHours: kinds[type].isPromotional ? 24 : 0,
})

export const defaultQuietHours = (type: AutomationType): QuietHours => ({
  isEnabled: kinds[type].isPromotional || type === 'payment-reminder',
  start: '21:00',
  end: '08:00',
})

/** In the language of a locale such as `pt-BR`: Portuguese, Spanish, else English. */
export const defaultMessage = (type: AutomationType, locale: string): AutomationMessage => ({
  text: defaultTexts[type][languageOf(locale)],
  mediaUrl: null,
  mediaType: null,
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
})

export const defaultTitle = (type: AutomationType, locale: string): string =>
  defaultTitles[type][languageOf(locale)]
