// The shop's own script, as a theme's would be: a cart that the browser keeps, what it comes to at the platform, the
// order, and what our elements are told of it.

const { shop, store, currency } = document.body.dataset
const locale = document.documentElement.lang
const money = (amount) => new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount)
const api = `/sandbox/api/ecommerce/${encodeURIComponent(store)}`
const kept = `shop.${store}`

const read = () => JSON.parse(localStorage.getItem(kept) || '{"lines":[],"code":null}')
const write = (cart) => localStorage.setItem(kept, JSON.stringify(cart))

async function send(path, body) {
  const response = await fetch(api + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error?.message)
  return answer
}

async function add(items, origin) {
  const cart = read()
  if (origin?.widget === 'cart-gift') return want(items[0].variantId, true)
  for (const { variantId, quantity = 1 } of items) {
    const line = cart.lines.find((each) => each.variantId === variantId)
    if (line) line.quantity += quantity
    else cart.lines.push({ variantId, quantity })
  }
  write(cart)
  await show()
}

async function takeOut(items, origin) {
  if (origin?.widget === 'cart-gift') return want(items[0].variantId, false)
  const cart = read()
  for (const { variantId, quantity = 1 } of items) {
    const line = cart.lines.find((each) => each.variantId === variantId)
    if (line) line.quantity -= quantity
  }
  write({ ...cart, lines: cart.lines.filter(({ quantity }) => quantity > 0) })
  await show()
}

/** What the shopper said of a gift that the platform gives: to have it, or not. */
async function want(variantId, isWanted) {
  const cart = read()
  write({ ...cart, gifts: { ...cart.gifts, [variantId]: isWanted } })
  await show()
}

function made(tag, text, props = {}) {
  const element = Object.assign(document.createElement(tag), props)
  if (text !== null) element.textContent = text
  return element
}

/** Asks the platform what the cart comes to, shows it, and tells the elements. */
async function show() {
  const { lines, code, gifts: wanted = {} } = read()
  const count = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  for (const each of document.querySelectorAll('[data-cart-count]')) each.textContent = String(count)
  const quote = lines.length > 0 ? await send('/cart-quote', { lines, couponCode: code }) : null
  const numbers = (quote?.lines ?? []).map((line) => ({
    ...line,
    total: Number(line.total),
    unitPrice: Number(line.unitPrice),
  }))
  const gifts = (quote?.gifts ?? [])
    .filter(({ variantId, isAdded }) => wanted[variantId] ?? isAdded)
    .map((gift) => ({ ...gift, unitPrice: 0, total: 0, isGift: true }))
  const detail = {
    currency,
    total: Number(quote?.total ?? 0),
    totalBeforeDiscounts: numbers.reduce((sum, { unitPrice, quantity }) => sum + unitPrice * quantity, 0),
    items: [...numbers, ...gifts],
    discounts: (quote?.discounts ?? []).map(({ title, amount }) => ({ title, amount: Number(amount) })),
    code,
  }
  window.storefrontCart = detail
  document.dispatchEvent(new CustomEvent('storefront:cart', { detail }))
  for (const box of document.querySelectorAll('[data-cart]')) draw(box, quote, detail)
}

function draw(box, quote, detail) {
  if (!quote) return box.replaceChildren(made('p', box.dataset.empty))
  const table = made('table', null)
  const rowOf = (...cells) => {
    const row = made('tr', null)
    row.append(...cells.map((cell) => (cell instanceof Node ? cell : made('td', cell))))
    table.append(row)
  }
  for (const { name, quantity, total, variantId, isGift } of detail.items) {
    const cells = [name, `× ${quantity}`, money(total)]
    if (box.dataset.remove) {
      const cell = made('td', null)
      const button = made('button', box.dataset.remove, { type: 'button' })
      button.addEventListener('click', () => {
        if (isGift) return want(variantId, false)
        const cart = read()
        write({ ...cart, lines: cart.lines.filter((line) => line.variantId !== variantId) })
        show()
      })
      cell.append(button)
      cells.push(cell)
    }
    rowOf(...cells)
  }
  const off = detail.totalBeforeDiscounts - detail.total
  if (off > 0) rowOf(box.dataset.discount, detail.code ?? '', `−${money(off)}`)
  rowOf(made('th', box.dataset.total), '', made('th', money(detail.total)))
  box.replaceChildren(table)
}

const ways = { 'storefront:add-to-cart': add, 'storefront:remove-from-cart': takeOut }
for (const [name, change] of Object.entries(ways)) {
  document.addEventListener(name, ({ detail: { items, origin, respondWith } }) => {
    const named = items.map(({ variantId, quantity }) => ({ variantId: String(variantId), quantity }))
    respondWith(change(named, origin))
  })
}

for (const form of document.querySelectorAll('form[data-buy]')) {
  const select = form.elements.variantId
  const button = form.querySelector('button')
  const words = button.textContent
  const tell = () => {
    const { value, selectedOptions } = select
    const { price, soldOut } = selectedOptions[0].dataset
    const isGone = soldOut !== undefined
    button.disabled = isGone
    button.textContent = isGone ? button.dataset.soldOutText : words
    const detail = {
      productId: form.dataset.buy,
      variantId: value,
      price: Number(price),
      isAvailable: !isGone,
    }
    const shown = document.querySelector('[data-price]')
    if (shown) shown.textContent = money(detail.price)
    window.storefrontProduct = detail
    document.dispatchEvent(new CustomEvent('storefront:product', { detail }))
  }
  select.addEventListener('change', tell)
  tell()
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    await add([{ variantId: select.value, quantity: Number(form.elements.quantity.value) }])
    form.querySelector('output').textContent = '✓'
  })
}

document.querySelector('[data-coupon]')?.addEventListener('submit', (event) => {
  event.preventDefault()
  write({ ...read(), code: event.target.elements.code.value.trim() || null })
  show()
})

document.querySelector('[data-checkout]')?.addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const { name, email, phone } = Object.fromEntries(new FormData(form))
  const { lines, code } = read()
  const gifts = (window.storefrontCart?.items ?? []).filter(({ isGift }) => isGift)
  const output = form.querySelector('output')
  try {
    const order = await send('/orders', {
      customer: { name, email, phone: phone || null },
      items: lines,
      // What the cart showed is what is paid.
      checkout: { giftVariantIds: gifts.map(({ variantId }) => variantId) },
      couponCode: code,
      clickToken: form.elements['attributes[mk]']?.value ?? null,
      paymentStatus: 'paid',
    })
    write({ lines: [], code: null })
    output.textContent = `${form.dataset.thanks} ${order.number}`
    await show()
  } catch (error) {
    output.textContent = error.message
  }
})

/** The demo's products lie at addresses that nobody has: here they lead to this shop. */
addEventListener('click', (event) => {
  const link = event.composedPath().find((each) => each.localName === 'a' && each.href)
  if (!link) return
  const { host, pathname } = new URL(link.href)
  if (host === location.host || !host.endsWith('.example')) return
  link.href = shop + pathname
})

show()
