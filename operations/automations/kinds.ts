/** The features and defaults of each type of automation, as data (rule 1). */
import { defaultTexts, defaultTitles, toLanguage } from './default-texts.ts'
import type { AutomationMessage, AutomationType, Conditions, QuietHours } from './types.ts'

/** The source of the triggering event's time: a column of `carts` or `orders`, or the instant of the scan. */
type OccurredAt =
  | 'last_activity_at'
  | 'placed_at'
  | 'paid_at'
  | 'shipped_at'
  | 'delivered_at'
  | 'cancelled_at'
  | 'scan'

export interface Kind {
  /** The value of `trigger.event` in the JSON of its executions. */
  event: string
  entityType: 'cart' | 'order' | 'customer'
  occurredAt: OccurredAt
  /** Default delay in minutes. */
  delay: number
  minDelay: number
  isPromotional: boolean
  /** The conditions that a merchant may set; the others keep their default. */
  conditions: ReadonlySet<keyof Conditions>
  skipIfPurchased: boolean
  /** How many days of past events the operation execute covers; null if the type has its own rule. */
  executeDays: number | null
  /** Variables that its texts may use. */
  variables: readonly string[]
  /** Additional variables that its texts may use after a coupon was issued. */
  couponVariables: readonly string[]
  /**
   * True if each run issues a coupon that is computed from the settings. Then the automation's `coupon` is always null.
   */
  hasOwnCoupon: boolean
  settings: Readonly<Record<string, string | number | null>>
  /** How many hours late a message may be sent, not counting quiet hours; null if it is never too late. */
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
const conditionsOfCarts = new Set(cartConditions)
const conditionsOfOrders = new Set<keyof Conditions>([...cartConditions, 'paymentMethods'])
const conditionsOfCustomers = new Set<keyof Conditions>(['cooldownHours'])

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
/** Variables that refer to the run's newest coupon. */
export const couponVariables: readonly string[] = ['couponCode', 'couponValue', 'couponExpiresAt']
/** Variables that refer to the order's cashback coupon, even if a newer coupon exists. */
export const cashbackVariables: readonly string[] = ['cashbackAmount']

const buildOrderKind = (event: string, occurredAt: OccurredAt, own: Partial<Kind> = {}): Kind => ({
  event,
  entityType: 'order',
  occurredAt,
  delay: 0,
  minDelay: 0,
  isPromotional: false,
  conditions: conditionsOfOrders,
  skipIfPurchased: false,
  executeDays: 3,
  variables: orderVariables,
  couponVariables,
  hasOwnCoupon: false,
  settings: {},
  latestHours: 24,
  ...own,
})

/** Promotional types whose message is never too late. */
const promotional = { isPromotional: true, executeDays: 30, latestHours: null }

export const kinds: Readonly<Record<AutomationType, Kind>> = {
  'abandoned-cart': {
    ...buildOrderKind('cart-abandoned', 'last_activity_at'),
    entityType: 'cart',
    delay: 60,
    minDelay: 15,
    isPromotional: true,
    conditions: conditionsOfCarts,
    skipIfPurchased: true,
    executeDays: 7,
    variables: cartVariables,
  },
  'order-created': buildOrderKind('order-created', 'placed_at'),
  'payment-reminder': buildOrderKind('order-created', 'placed_at', {
    delay: 60,
    minDelay: 5,
    skipIfPurchased: true,
    executeDays: 7,
  }),
  'order-paid': buildOrderKind('order-paid', 'paid_at'),
  'order-shipped': buildOrderKind('order-shipped', 'shipped_at'),
  'order-delivered': buildOrderKind('order-delivered', 'delivered_at'),
  'order-cancelled': buildOrderKind('order-cancelled', 'cancelled_at'),
  'post-purchase': buildOrderKind('order-paid', 'paid_at', { ...promotional, delay: 4320 }),
  'review-request': buildOrderKind('order-delivered', 'delivered_at', { ...promotional, delay: 10_080 }),
  cashback: buildOrderKind('order-paid', 'paid_at', {
    ...promotional,
    delay: 1440,
    hasOwnCoupon: true,
    couponVariables: [...couponVariables, ...cashbackVariables],
    settings: { percent: 10, maxAmount: null, minimumAmount: null, validDays: 30, prefix: 'CASH' },
  }),
  'win-back': {
    ...buildOrderKind('customer-inactive', 'scan'),
    entityType: 'customer',
    isPromotional: true,
    conditions: conditionsOfCustomers,
    skipIfPurchased: true,
    executeDays: null,
    variables: [...orderVariables, 'daysSinceOrder'],
    settings: { inactiveDays: 60, sendAt: '10:00' },
    latestHours: null,
  },
  birthday: {
    ...buildOrderKind('birthday', 'scan'),
    entityType: 'customer',
    isPromotional: true,
    conditions: conditionsOfCustomers,
    executeDays: null,
    variables: common,
    settings: { daysBefore: 0, sendAt: '09:00' },
  },
}

/** Shape of the column `settings` of a win-back automation. */
export interface WinBackSettings {
  inactiveDays: number
  /** `HH:mm` in the store's time zone. */
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

/** Builds the entry key of a run from what triggered it. An automation has at most one run per key, ever. */
export const entryKeys = {
  cart: (cartId: string): string => `cart:${cartId}`,
  order: (orderId: string): string => `order:${orderId}`,
  winBack: (customerId: string, lastOrderId: string): string => `customer:${customerId}:${lastOrderId}`,
  birthday: (customerId: string, year: number): string => `customer:${customerId}:${year}`,
}

export const defaultConditions = (type: AutomationType): Conditions => ({
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

/** The default message in the language of a locale such as `pt-BR`; English unless it is Portuguese or Spanish. */
export const defaultMessage = (type: AutomationType, locale: string): AutomationMessage => ({
  text: defaultTexts[type][toLanguage(locale)],
  mediaUrl: null,
  mediaType: null,
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
})

export const defaultTitle = (type: AutomationType, locale: string): string =>
  defaultTitles[type][toLanguage(locale)]
