/** Parses the delivery address from the platform's order. Pure. */

import type { z } from '#runtime/schema'
import { parsePhone } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import type { ReadOrder } from '../requests/read-order.ts'
import { address } from '../settings/schema.ts'

type Address = z.infer<typeof address>

/** Returns null when the order has no delivery address, or the address lacks a required line. */
export function parseCustomerAddress(order: ReadOrder, country: string): Address | null {
  const given = order.shippingAddress
  if (!given) return null
  const line = (key: string, atMost: number): string | null => {
    const value = given[key]
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    return truncate(text.replace(/\s+/g, ' ').trim(), atMost) || null
  }
  const phone = line('phone', 40)
  const { success, data } = address.safeParse({
    recipient:
      line('recipient', 120) ??
      line('name', 120) ??
      (order.customer.name === null ? null : truncate(order.customer.name, 120)),
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
