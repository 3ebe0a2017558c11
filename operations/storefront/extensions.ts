import { extensions } from '#runtime/extensions'
import { catalogConnected, productsChanged, stockChanged } from './catalog/events.ts'
import { lookForCategories, lookForProducts } from './catalog/references.ts'
import { platformConnected } from './script/publication.ts'

export default extensions({
  guides: {
    themes: {
      title: 'Theme guide',
      summary: 'how a theme shows the widgets: elements, placement, events, parts',
      file: new URL('THEMES.md', import.meta.url),
    },
  },
  providerEvents: {
    'ecommerce:product.updated': [productsChanged],
    'ecommerce:stock.updated': [stockChanged],
  },
  platformConnected: [catalogConnected, platformConnected],
  references: { product: lookForProducts, category: lookForCategories },
  events: { page: { feature: null, types: ['product-view', 'cart-add'] } },
})
