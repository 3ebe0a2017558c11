/** What a message of an automation is about, as the mirrors know it now. */

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
  /** Decimal text, as all amounts. */
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

/** A cart, and what decides whether it is still one that was left. */
export interface CartState extends CartFacts {
  /** The order that it names, as the mirror knows it. */
  order_is_cancelled: boolean
  last_activity_at: Date
  /** At least one of its products is sold still. */
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

export interface Person {
  name: string | null
  /** E.164. */
  phone: string | null
  email: string | null
}

export const isCancelled = (order: Pick<OrderFacts, 'status'>): boolean => order.status === 'cancelled'
