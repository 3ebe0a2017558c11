/** Types of the cached orders, carts, coupons and contacts that decisions and messages use. */

import type { CouponSpec } from '../types.ts'

export interface Line {
  productId: string | null
  name: string
  quantity: number
  /** Decimal text. */
  total: string
}

export interface OrderFacts {
  id: string
  number: string
  status: string
  payment_status: string
  currency: string
  /** Decimal text, like all amounts. */
  total: string
  shipping: string
  refunded_total: string
  payment_method: string | null
  payment_url: string | null
  status_url: string | null
  tracking_code: string | null
  tracking_url: string | null
  placed_at: Date
  items: Line[]
}

export interface CartFacts {
  id: string
  total: string
  currency: string
  url: string
  order_id: string | null
  items: Line[]
}

/** A cart, with the fields that decide whether it is still abandoned. */
export interface CartState extends CartFacts {
  /** Whether the cart became an order that the cache shows as cancelled. */
  order_is_cancelled: boolean
  last_activity_at: Date
  /** At least one of its products is still on sale. */
  has_products: boolean
}

export interface IssuedCoupon {
  stepId: string
  code: string
  type: 'percentage' | 'amount' | 'free-shipping'
  value: number | null
  endsAt: Date
  isMade: boolean
}

export interface CouponOfRun extends IssuedCoupon {
  /** Its terms, as the automation had them when its code was stored. */
  spec: CouponSpec
}

export interface Person {
  name: string | null
  /** E.164. */
  phone: string | null
  email: string | null
}

export const isCancelled = (order: Pick<OrderFacts, 'status'>): boolean => order.status === 'cancelled'
