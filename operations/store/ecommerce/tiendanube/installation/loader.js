// The script to upload in Tiendanube's partner portal: location "store", not auto installed. Tiendanube calls it with the
// parameters of the shop: `src` is the URL of the loader of all widgets. Passes on what `LS`, Tiendanube's object on each
// page, says of the page, the shopper and the chosen variant (operations/storefront/THEMES.md).
;(() => {
  const own =
    document.currentScript || document.querySelector('script[src*="apps-scripts."][src*="src=http"]')
  const src = own && new URL(own.src, location.href).searchParams.get('src')
  if (!src?.startsWith('https://')) return
  const { product, category, customer, currency, registerOnChangeVariant } = window.LS || {}
  if (product) window.storefrontPage ||= { page: 'product', productId: String(product.id) }
  else if (category) window.storefrontPage ||= { page: 'category' }
  if (customer) window.storefrontCustomer ||= { id: String(customer) }
  registerOnChangeVariant?.call(window.LS, (variant) => {
    const productId = variant?.product_id ?? product?.id
    if (!productId || !variant?.id) return
    const detail = {
      productId: String(productId),
      variantId: String(variant.id),
      price: Number(variant.price_number),
      currency: currency?.code,
      isAvailable: Boolean(variant.available),
    }
    window.storefrontProduct = detail
    document.dispatchEvent(new CustomEvent('storefront:product', { detail }))
  })
  // The click token of a message's link is a field of the cart's form, so that the order has it in `extra`.
  document.addEventListener('storefront:widgets', () => {
    const token = window.storefront?.keep.read('click')
    for (const form of token ? document.querySelectorAll('form[action*="/comprar"]') : []) {
      if (form.querySelector('[name="extra[mk]"]')) continue
      const field = document.createElement('input')
      Object.assign(field, { type: 'hidden', name: 'extra[mk]', value: token })
      form.appendChild(field)
    }
  })
  const loader = document.createElement('script')
  loader.async = true
  loader.src = src
  document.head.appendChild(loader)
})()
