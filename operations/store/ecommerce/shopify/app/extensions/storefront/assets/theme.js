// Tells the widgets what the shopper chooses and puts into the cart (`storefront:product`, `storefront:cart`), whatever
// the theme: by the form that adds to the cart, and by the requests to Shopify's Ajax API that the page makes.
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
  // Shopify has hundredths of every currency, of those without any, too.
  const amount = (hundredths) => hundredths / 100

  // What Shopify takes off, by the names of its discounts; null where it does not say.
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

  // The cart: as the page came with it, and read again once a request may have changed it.
  let last = ''
  let shown
  const tellCart = ({ currency, total_price: total, original_total_price: before, items, ...rest }) => {
    const discounts = discountsOf(items, rest.cart_level_discount_applications)
    const cart = {
      total: amount(total),
      totalBeforeDiscounts: amount(before),
      currency,
      // What comes off is in `total`: without the price a line would be taken for a cheaper one.
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
      // The next change asks again.
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
  // A page that the browser kept has the cart of before.
  addEventListener('pageshow', ({ persisted }) => persisted && changed())

  // The product: which of its variants the form would put into the cart.
  const product = read('product')
  const variants = new Map((product?.variants ?? []).map((each) => [String(each.id), each]))
  const seen = new WeakMap()
  let current = null
  let chosen = null
  function look() {
    const fields = [...document.querySelectorAll('form[action*="/cart/add"] [name="id"]')].filter(
      ({ value }) => variants.has(value),
    )
    // Several forms may be of this product: the one that has just changed is the shopper's.
    const moved = fields.find((field) => seen.has(field) && seen.get(field) !== field.value)
    for (const field of fields) seen.set(field, field.value)
    // Where the section was drawn anew, what stands there now.
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
      // The shopper's, which is that of the cart, an empty one too.
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
    // Themes draw a section anew, or write into the field, without an event.
    new MutationObserver(soon).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['value'],
    })
    // Dawn and themes of its kind say so, after they wrote a value that no attribute shows.
    try {
      if (typeof PUB_SUB_EVENTS === 'object') subscribe(PUB_SUB_EVENTS.variantChange, soon)
    } catch {
      // Another theme's names.
    }
  }
  if (document.readyState === 'complete') begin()
  else addEventListener('load', begin, { once: true })
})()
