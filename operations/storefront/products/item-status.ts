/** Availability of an item that names a product or variant, from the catalog cache. */
import { money, z } from '#runtime/schema'

export const itemStatus = z
  .enum(['available', 'out-of-stock', 'unpublished', 'missing'])
  .describe('out-of-stock: tracked stock of 0; missing: the product or variant is gone')

/** Fields of an item that come from the catalog cache. */
export const itemCatalogFields = {
  name: z.string().nullable(),
  variantName: z.string().nullable(),
  imageUrl: z.string().nullable(),
  url: z.string().nullable(),
  unitPrice: money.nullable().describe('Null while the item is missing'),
  status: itemStatus,
}
