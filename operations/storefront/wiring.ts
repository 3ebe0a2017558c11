import { connections, events } from '#operations/store/lib/door'
import { registerReference } from '#runtime/references'
import { wiring } from '#runtime/wiring'
import { catalogConnected, productsChanged, stockChanged } from './lib/catalog-events.ts'
import { registerEvents } from './lib/events.ts'
import { platformConnected } from './lib/publication.ts'
import { lookForCategories, lookForProducts } from './lib/snapshot-require.ts'

export default wiring(() => {
  events.on('ecommerce', 'product.updated', productsChanged)
  events.on('ecommerce', 'stock.updated', stockChanged)
  connections.onConnected(catalogConnected)
  connections.onConnected(platformConnected)
  registerReference('product', lookForProducts)
  registerReference('category', lookForCategories)
  registerEvents('page', { feature: null, types: ['product-view', 'cart-add'] })
})
