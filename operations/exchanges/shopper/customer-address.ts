/** Where an order was delivered, of what its platform says of it: pure. */

import type { z } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { parsePhone } from '#runtime/values/phone'
import { address } from '../settings/schema.ts'
import type { ReadOrder } from './read-order.ts'

type Address = z.infer<typeof address>

/** Null where the platform does not tell all that an address must have. */
export function customerAddress(order: ReadOrder, country: string): Address | null {
  const given = order.shippingAddress
  if (!given) return null
  const line = (key: string, atMost: number): string | null => {
    const value = given[key]
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    return cut(text.replace(/\s+/g, ' ').trim(), atMost) || null
  }
  const phone = line('phone', 40)
  const { success, data } = address.safeParse({
    recipient:
      line('recipient', 120) ??
      line('name', 120) ??
      (order.customer.name === null ? null : cut(order.customer.name, 120)),
    street: line('street', 200),
    number: line('number', 20),
    complement: line('complement', 120),
    district: line('district', 120),
    city: line('city', 120),
    state: line('state', 60),
    postalCode: line('postalCode', 20),
    country: line('country', 2)?.toUpperCase(),
    phone: phone && parsePhone(phone, country),
    instructions: line('instructions', 500),
  })
  return success ? data : null
}
