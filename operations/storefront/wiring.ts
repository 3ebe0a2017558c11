import { connections, events } from '#operations/store/door'
import { registerReference } from '#runtime/references'
import { wiring } from '#runtime/wiring'
import { catalogConnected, productsChanged, stockChanged } from './catalog/events.ts'
import { lookForCategories, lookForProducts } from './catalog/require.ts'
import { registerEvents } from './events/register.ts'
import { platformConnected } from './script/publication.ts'

export default wiring(() => {
  events.on('ecommerce', 'product.updated', productsChanged)
  events.on('ecommerce', 'stock.updated', stockChanged)
  connections.onConnected(catalogConnected)
  connections.onConnected(platformConnected)
  registerReference('product', lookForProducts)
  registerReference('category', lookForCategories)
  registerEvents('page', { feature: null, types: ['product-view', 'cart-add'] })
})
