// Script of the sandbox shop, like that of a theme. It keeps the cart in local storage, gets the cart's quote from the
// platform, places the order, and sends events to our elements.

const { shop, store, currency } = document.body.dataset
const locale = document.documentElement.lang
const money = (amount) => new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount)
const api = `/sandbox/api/ecommerce/${encodeURIComponent(store)}`
const storageKey = `shop.${store}`

const read = () => JSON.parse(localStorage.getItem(storageKey) || '{"lines":[],"code":null}')
const write = (cart) => localStorage.setItem(storageKey, JSON.stringify(cart))

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
  if (origin?.widget === 'cart-gift') return chooseGift(items[0].variantId, true)
  for (const { variantId, quantity = 1 } of items) {
    const line = cart.lines.find((each) => each.variantId === variantId)
    if (line) line.quantity += quantity
    else cart.lines.push({ variantId, quantity })
  }
  write(cart)
  await show()
}

async function remove(items, origin) {
  if (origin?.widget === 'cart-gift') return chooseGift(items[0].variantId, false)
  const cart = read()
  for (const { variantId, quantity = 1 } of items) {
    const line = cart.lines.find((each) => each.variantId === variantId)
    if (line) line.quantity -= quantity
  }
  write({ ...cart, lines: cart.lines.filter(({ quantity }) => quantity > 0) })
  await show()
}

/** Stores whether the shopper accepts or declines a gift. */
async function chooseGift(variantId, isWanted) {
  const cart = read()
  write({ ...cart, gifts: { ...cart.gifts, [variantId]: isWanted } })
  await show()
}

function createElement(tag, text, props = {}) {
  const element = Object.assign(document.createElement(tag), props)
  if (text !== null) element.textContent = text
  return element
}

/** Gets a quote for the cart, shows it, and notifies the elements. */
async function show() {
  const { lines, code, gifts: choices = {} } = read()
  const count = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  for (const each of document.querySelectorAll('[data-cart-count]')) each.textContent = String(count)
  const quote = lines.length > 0 ? await send('/cart-quote', { lines, couponCode: code }) : null
  const numbers = (quote?.lines ?? []).map((line) => ({
    ...line,
    total: Number(line.total),
    unitPrice: Number(line.unitPrice),
  }))
  const gifts = (quote?.gifts ?? [])
    .filter(({ variantId, isAdded }) => choices[variantId] ?? isAdded)
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
  if (!quote) return box.replaceChildren(createElement('p', box.dataset.empty))
  const table = createElement('table', null)
  const addRow = (...cells) => {
    const row = createElement('tr', null)
    row.append(...cells.map((cell) => (cell instanceof Node ? cell : createElement('td', cell))))
    table.append(row)
  }
  for (const { name, quantity, total, variantId, isGift } of detail.items) {
    const cells = [name, `× ${quantity}`, money(total)]
    if (box.dataset.remove) {
      const cell = createElement('td', null)
      const button = createElement('button', box.dataset.remove, { type: 'button' })
      button.addEventListener('click', () => {
        if (isGift) return chooseGift(variantId, false)
        const cart = read()
        write({ ...cart, lines: cart.lines.filter((line) => line.variantId !== variantId) })
        show()
      })
      cell.append(button)
      cells.push(cell)
    }
    addRow(...cells)
  }
  const off = detail.totalBeforeDiscounts - detail.total
  if (off > 0) addRow(box.dataset.discount, detail.code ?? '', `−${money(off)}`)
  addRow(createElement('th', box.dataset.total), '', createElement('th', money(detail.total)))
  box.replaceChildren(table)
}

const handlers = { 'storefront:add-to-cart': add, 'storefront:remove-from-cart': remove }
for (const [name, change] of Object.entries(handlers)) {
  document.addEventListener(name, ({ detail: { items, origin, respondWith } }) => {
    const named = items.map(({ variantId, quantity }) => ({ variantId: String(variantId), quantity }))
    respondWith(change(named, origin))
  })
}

for (const form of document.querySelectorAll('form[data-buy]')) {
  const select = form.elements.variantId
  const button = form.querySelector('button')
  const words = button.textContent
  const publish = () => {
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
  select.addEventListener('change', publish)
  publish()
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
      // The order contains the gifts that the cart showed.
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

/** Rewrites links to `.example` hosts, which the demo's product URLs use, to this shop. */
addEventListener('click', (event) => {
  const link = event.composedPath().find((each) => each.localName === 'a' && each.href)
  if (!link) return
  const { host, pathname } = new URL(link.href)
  if (host === location.host || !host.endsWith('.example')) return
  link.href = shop + pathname
})

show()
