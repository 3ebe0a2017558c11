/** How an item that names a product or variant stands, as read by our mirror of the catalog. */
import { z } from '#runtime/schema'

export const itemStatus = z
  .enum(['available', 'out-of-stock', 'unpublished', 'missing'])
  .describe('out-of-stock: tracked stock of 0; missing: the product or variant is gone')
