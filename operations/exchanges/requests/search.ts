/** Builds the search text of a request: lower case, without accents and repeated spaces. */

import { foldText } from '#runtime/values/fold'
import { truncate } from '#runtime/values/truncate'

interface SearchFields {
  number: string
  orderNumber: string
  customerName: string | null
  customerEmail: string | null
  /** E.164; searchable by its digits. */
  customerPhone: string | null
  items: readonly { name: string; sku: string | null }[]
}

/** Contains the numbers of request and order, the customer's name, email and phone, and the items' names and SKUs. */
export const buildSearchText = (request: SearchFields): string =>
  truncate(
    [
      request.number,
      request.orderNumber,
      request.customerName,
      request.customerEmail,
      request.customerPhone,
      ...request.items.flatMap(({ name, sku }) => [name, sku]),
    ]
      .flatMap((text) => (text ? [foldText(text)] : []))
      .join('\n'),
    16_000,
  )
