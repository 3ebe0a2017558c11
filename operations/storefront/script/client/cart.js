// Changes the shop's cart: through the theme, or with direct requests to the platform if the theme does not respond.

/** Adds items to the shop's cart. */
export const addToCart = (items, origin) =>
  changeCart('storefront:add-to-cart', items, origin, () =>
    onShopify('add.js', { items: items.map(({ variantId, quantity = 1 }) => ({ id: variantId, quantity })) }),
  )

/** Removes items that we added to the cart. If several lines have the variant, a free one is reduced first. */
export const removeFromCart = (items, origin) =>
  changeCart('storefront:remove-from-cart', items, origin, async () => {
    const { items: lines } = await onShopify('../cart.js')
    for (const { variantId, quantity = 1 } of items) {
      const own = lines.filter((line) => String(line.variant_id) === String(variantId))
      const line = own.find((each) => each.final_line_price === 0) ?? own.at(-1)
      if (!line) continue
      await onShopify('change.js', { id: line.key, quantity: Math.max(0, line.quantity - quantity) })
    }
  })

async function changeCart(name, items, origin, byUs) {
  let answered = null
  const detail = { items, origin, respondWith: (promise) => (answered = Promise.resolve(promise)) }
  const event = new CustomEvent(name, { detail, cancelable: true })
  document.dispatchEvent(event)
  if (answered) return answered
  if (event.defaultPrevented) return null
  if (!window.Shopify) throw new Error('Nothing on this page changes the cart')
  return byUs()
}

async function onShopify(path, body) {
  const response = await fetch(`${window.Shopify.routes?.root ?? '/'}cart/${path}`, {
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    headers: { 'Content-Type': 'application/json' },
  })
  if (!response.ok) throw new Error('The cart did not take it')
  return response.json()
}
