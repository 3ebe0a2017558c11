// Notifies the widgets of the selected product and of the cart (`storefront:product`, `storefront:cart`) in any theme: it
// watches the form that adds to the cart, and the page's requests to Shopify's Ajax API.
;(() => {
  const read = (name) => {
    const text = document.querySelector(`script[data-storefront-${name}]`)?.textContent
    try {
      return text ? JSON.parse(text) : null
    } catch {
      return null
    }
  }
  const tell = (name, detail) => {
    window[name === 'cart' ? 'storefrontCart' : 'storefrontProduct'] = detail
    document.dispatchEvent(new CustomEvent(`storefront:${name}`, { detail }))
  }
  // Shopify uses hundredths for every currency, even those without a minor unit.
  const amount = (hundredths) => hundredths / 100

  // Discounts by name; null if Shopify does not report them.
  function discountsOf(items, ofCart) {
    if (!items.every((each) => Array.isArray(each.line_level_discount_allocations))) return null
    const sums = new Map()
    const add = (title, hundredths) => {
      if (title) sums.set(title, (sums.get(title) ?? 0) + Number(hundredths))
    }
    for (const { line_level_discount_allocations: ofLine } of items) {
      for (const each of ofLine) add(each.discount_application?.title, each.amount)
    }
    for (const each of ofCart ?? []) add(each.title, each.total_allocated_amount)
    return [...sums].map(([title, hundredths]) => ({ title, amount: amount(hundredths) }))
  }

  // The cart: from the page first, and fetched again after a request that may have changed it.
  let last = ''
  let shown
  const tellCart = ({ currency, total_price: total, original_total_price: before, items, ...rest }) => {
    const discounts = discountsOf(items, rest.cart_level_discount_applications)
    const cart = {
      total: amount(total),
      totalBeforeDiscounts: amount(before),
      currency,
      // `total` includes discounts, so `unitPrice` must be the price before them.
      items: items.map((each) => ({
        productId: String(each.product_id),
        variantId: String(each.variant_id),
        quantity: each.quantity,
        unitPrice: amount(each.original_price),
        total: amount(each.final_line_price),
      })),
      ...(discounts && { discounts }),
    }
    shown = currency
    const text = JSON.stringify(cart)
    if (text === last) return
    last = text
    tell('cart', cart)
  }
  const pauseMs = 300
  let timer = null
  let isAsking = false
  let isWanted = false
  const changed = () => {
    isWanted = true
    if (isAsking) return
    clearTimeout(timer)
    timer = setTimeout(ask, pauseMs)
  }
  async function ask() {
    isAsking = true
    isWanted = false
    try {
      const answer = await fetch(`${window.Shopify?.routes?.root ?? '/'}cart.js`, {
        headers: { accept: 'application/json' },
      })
      if (answer.ok) tellCart(await answer.json())
    } catch {
      // The next change retries.
    }
    isAsking = false
    if (isWanted) changed()
  }
  const changes = /\/cart\/(?:add|change|update|clear)(?:\.js)?(?:\?|$)/
  const isOurs = ({ name }) => name.startsWith(location.origin) && changes.test(name)
  if (window.PerformanceObserver) {
    new PerformanceObserver((list) => {
      if (list.getEntries().some(isOurs)) changed()
    }).observe({ type: 'resource', buffered: true })
  }
  // A page from the back/forward cache has an outdated cart.
  addEventListener('pageshow', ({ persisted }) => persisted && changed())

  // The product: the variant selected in the form.
  const product = read('product')
  const variants = new Map((product?.variants ?? []).map((each) => [String(each.id), each]))
  const seen = new WeakMap()
  let current = null
  let chosen = null
  function look() {
    const fields = [...document.querySelectorAll('form[action*="/cart/add"] [name="id"]')].filter(
      ({ value }) => variants.has(value),
    )
    // With several forms of this product, use the one that has just changed.
    const moved = fields.find((field) => seen.has(field) && seen.get(field) !== field.value)
    for (const field of fields) seen.set(field, field.value)
    // If the section was re-rendered, use its new field.
    const field = moved ?? (current?.isConnected ? null : fields[0])
    if (!field) return
    current = field
    const id = field.value
    if (id === chosen) return
    chosen = id
    const { price, available } = variants.get(id)
    tell('product', {
      productId: String(product.id),
      variantId: id,
      price: amount(price),
      // The shopper's currency is the cart's, even of an empty one.
      currency: shown,
      isAvailable: available,
    })
  }
  let isLooking = false
  const soon = () => {
    if (isLooking) return
    isLooking = true
    setTimeout(() => {
      isLooking = false
      look()
    }, 50)
  }

  function begin() {
    const cart = read('cart')
    if (cart) tellCart(cart)
    if (variants.size === 0) return
    look()
    document.addEventListener('change', soon, true)
    addEventListener('popstate', soon)
    // Themes re-render a section, or set the field, without an event.
    new MutationObserver(soon).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['value'],
    })
    // Dawn and similar themes publish an event after setting a value that no attribute shows.
    try {
      if (typeof PUB_SUB_EVENTS === 'object') subscribe(PUB_SUB_EVENTS.variantChange, soon)
    } catch {
      // Another theme.
    }
  }
  if (document.readyState === 'complete') begin()
  else addEventListener('load', begin, { once: true })
})()
