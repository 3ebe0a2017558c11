/** Types of an automation as stored. `schema.ts` validates the public fields and has their limits. */

export interface AutomationMessage {
  text: string | null
  mediaUrl: string | null
  mediaType: 'image' | 'video' | 'document' | null
  officialapiTemplateId: number | null
  templateParameters: { header: string[]; body: string[]; buttons: string[] }
}

export interface CouponSpec {
  type: 'percentage' | 'amount' | 'free-shipping'
  value: number | null
  prefix: string
  minimumAmount: number | null
  validDays: number
}

interface WaitStep {
  id: string
  type: 'wait'
  minutes: number
  next: string | null
}
interface PurchaseCheckStep {
  id: string
  type: 'purchase-check'
  paidOnly: boolean
  ifPurchased: string | null
  ifNot: string | null
}
interface CouponStep {
  id: string
  type: 'coupon'
  coupon: CouponSpec
  next: string | null
}
interface MessageStep {
  id: string
  type: 'message'
  message: AutomationMessage
  next: string | null
}
export type Step = WaitStep | PurchaseCheckStep | CouponStep | MessageStep
export interface Flow {
  start: string
  steps: Step[]
}

export interface Conditions {
  minAmount: number | null
  maxAmount: number | null
  productIds: string[]
  excludedProductIds: string[]
  categoryIds: string[]
  paymentMethods: string[]
  customers: 'all' | 'first-order' | 'returning'
  cooldownHours: number
}

export interface QuietHours {
  isEnabled: boolean
  /** `HH:mm` in the store's time zone. */
  start: string
  end: string
}

/** An automation as the engine uses it. */
export interface AutomationRow {
  id: string
  type: AutomationType
  name: string
  isActive: boolean
  activatedAt: Date | null
  delayMinutes: number
  message: AutomationMessage
  coupon: CouponSpec | null
  conditions: Conditions
  skipIfPurchased: boolean
  quietHours: QuietHours
  settings: Record<string, unknown>
  flow: Flow | null
  flowVersion: number | null
}

export const automationTypes = [
  'abandoned-cart',
  'order-created',
  'payment-reminder',
  'order-paid',
  'order-shipped',
  'order-delivered',
  'order-cancelled',
  'post-purchase',
  'review-request',
  'cashback',
  'win-back',
  'birthday',
] as const
export type AutomationType = (typeof automationTypes)[number]
