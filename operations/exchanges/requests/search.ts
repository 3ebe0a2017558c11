/** What the list is searched for: without case, accents and repeated spaces. */
import { cut } from '#runtime/values/cut'
import { plainForm } from '#runtime/values/plain-form'

interface Searched {
  number: string
  orderNumber: string
  customerName: string | null
  customerEmail: string | null
  /** E.164: found by its digits. */
  customerPhone: string | null
  items: readonly { name: string; sku: string | null }[]
}

/** Numbers, the customer's name, email and phone, and the items' names and SKUs. */
export const searchTextOf = (request: Searched): string =>
  cut(
    [
      request.number,
      request.orderNumber,
      request.customerName,
      request.customerEmail,
      request.customerPhone,
      ...request.items.flatMap(({ name, sku }) => [name, sku]),
    ]
      .flatMap((text) => (text ? [plainForm(text)] : []))
      .join('\n'),
    16_000,
  )
