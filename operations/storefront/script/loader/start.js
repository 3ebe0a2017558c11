/* parts */
import { ask, carryClickToken, currentPage, tell, visitorId } from './core.js'

export async function start() {
  const { page, productId } = currentPage()
  const query = new URLSearchParams({ page, ...(productId ? { productId } : {}) })
  const widgets = await ask(`/widgets?${query}`)
  carryClickToken()
  if (page === 'product' && productId) tell('product-view', 'page', { productId })
  // Themes draw what belongs into their own pages; what floats above them is drawn here.
  window.storefront = { widgets, page, productId, visitorId, tell, ask }
  document.dispatchEvent(new CustomEvent('storefront:widgets', { detail: window.storefront }))
  /* the parts begin */
}
