/** How an item that names a product or variant stands, as read by our mirror of the catalog. */
import { money, z } from '#runtime/schema'

export const itemStatus = z
  .enum(['available', 'out-of-stock', 'unpublished', 'missing'])
  .describe('out-of-stock: tracked stock of 0; missing: the product or variant is gone')

/** What the mirror says of an item, beside what the merchant gave. */
export const itemSeen = {
  name: z.string().nullable(),
  variantName: z.string().nullable(),
  imageUrl: z.string().nullable(),
  url: z.string().nullable(),
  unitPrice: money.nullable().describe('Null while the item is missing'),
  status: itemStatus,
}
