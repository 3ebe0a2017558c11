/** The sandbox's page: shows what the world outside holds, and acts on it through /sandbox/api. */
const byId = (id) => document.getElementById(id)
const chosen = () => byId('store').value
let shown = ''

/** A JSON call; what is refused is told to the reader. */
async function ask(path, body) {
  const response = await fetch(`/sandbox/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error ? answer.error.message : `HTTP ${response.status}`)
  return answer
}

/** Does something and says how it went; then looks again. */
async function act(what, doing) {
  byId('status').textContent = `${what}…`
  try {
    await doing()
    byId('status').textContent = `${what}: done`
  } catch (error) {
    byId('status').textContent = `${what}: ${error.message}`
  }
  await refresh()
}

/** An element with texts and elements in it; texts are never read as HTML. */
function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') made.addEventListener('click', value)
    else made.setAttribute(key, value)
  }
  made.append(...children)
  return made
}

const button = (text, onclick) => element('button', { type: 'button', onclick }, text)
const quiet = (text) => element('div', { class: 'quiet' }, text)
const time = (instant) => new Date(instant).toLocaleString()

function fill(id, items, none) {
  byId(id).replaceChildren(...(items.length > 0 ? items : [element('li', {}, none)]))
}

function showMessages(messages) {
  fill(
    'messages',
    messages.map((message) =>
      element(
        'li',
        {},
        quiet(`to ${message.phone}, ${time(message.sentAt)}`),
        element('div', {}, message.text || `(${message.kind})`),
        quiet(message.status),
      ),
    ),
    'Nothing has left yet.',
  )
}

function showMail(mail) {
  fill(
    'mail',
    mail.map((each) =>
      element(
        'li',
        {},
        element(
          'details',
          {},
          element('summary', {}, `${each.subject}, to ${each.to}`),
          quiet(time(each.sentAt)),
          element('pre', {}, each.text),
          ...each.links.map((href) => element('p', {}, element('a', { href }, href))),
        ),
      ),
    ),
    'No mail has left yet.',
  )
}

function showConnection({ code, setups, templates }) {
  byId('scan').hidden = code === null
  byId('scan-none').hidden = code !== null
  byId('scan-code').textContent = code === null ? '' : `A code waits, until ${time(code.expiresAt)}.`
  byId('scan').dataset.payload = code === null ? '' : code.payload
  fill(
    'setups',
    setups.map((setup) =>
      element(
        'li',
        {},
        element('a', { href: setup.url }, 'Go through the setup'),
        quiet(`until ${time(setup.endsAt)}`),
      ),
    ),
    'No setup waits. One begins with POST /v1/officialapi/setup.',
  )
  const review = (template, status, what) =>
    button(what, () =>
      act(`${what} ${template.name}`, () =>
        ask(`/messaging/${chosen()}/templates/${template.id}/review`, {
          status,
          ...(status === 'rejected' ? { reason: 'invalid-format' } : {}),
        }),
      ),
    )
  fill(
    'templates',
    templates.map((template) =>
      element(
        'li',
        {},
        element('div', {}, `${template.name} (${template.language})`),
        quiet(template.status),
        element(
          'div',
          { class: 'buttons' },
          review(template, 'approved', 'Approve'),
          review(template, 'rejected', 'Reject'),
          review(template, 'paused', 'Pause'),
        ),
      ),
    ),
    'The store has no templates.',
  )
}

function showShop({ variants, orders }) {
  for (const id of ['order-variant', 'stock-variant']) {
    const kept = byId(id).value
    byId(id).replaceChildren(
      ...variants.map((each) =>
        element('option', { value: each.id }, `${each.name}, ${each.price} (${each.stock ?? 'any'} left)`),
      ),
    )
    if (variants.some((each) => each.id === kept)) byId(id).value = kept
  }
  const change = (order, body, what) =>
    button(what, () =>
      act(`${what} order ${order.number}`, () =>
        ask(`/ecommerce/${chosen()}/orders/${order.id}/status`, body),
      ),
    )
  fill(
    'orders',
    orders.map((order) =>
      element(
        'li',
        {},
        element('div', {}, `No. ${order.number}, ${order.total} ${order.currency}, ${order.customer}`),
        quiet(`${order.paymentStatus}, ${order.fulfillmentStatus}, ${order.status}`),
        element(
          'div',
          { class: 'buttons' },
          change(order, { paymentStatus: 'paid' }, 'Pay'),
          change(order, { fulfillmentStatus: 'shipped' }, 'Ship'),
          change(order, { fulfillmentStatus: 'delivered' }, 'Deliver'),
          change(order, { status: 'cancelled' }, 'Cancel'),
        ),
      ),
    ),
    'Nobody has ordered yet.',
  )
}

function showBilling({ checkouts }) {
  fill(
    'checkouts',
    checkouts.map((checkout) =>
      element(
        'li',
        {},
        element('a', { href: checkout.url }, checkout.title),
        quiet(`${checkout.amount} ${checkout.currency}, until ${time(checkout.expiresAt)}`),
      ),
    ),
    'No checkout is open. One begins with POST /v1/subscription/create-preapproval.',
  )
}

function showClock({ now, offsetSeconds }) {
  byId('now').textContent = time(now)
  byId('now').dateTime = now
  byId('offset').textContent = offsetSeconds > 0 ? `(${offsetSeconds} s ahead)` : ''
}

function show(world) {
  byId('provider-mode').textContent = world.modes.messaging
  byId('billing-mode').textContent = world.modes.billing
  byId('shop-mode').textContent = world.modes.ecommerce
  showMessages(world.messages)
  showMail(world.mail)
  showConnection(world)
  showShop(world)
  showBilling(world)
}

/** Looks at the world; draws it only where it is another, so that nobody loses their place. */
async function refresh() {
  const world = await ask(`/world${chosen() ? `?store=${encodeURIComponent(chosen())}` : ''}`)
  const { stores } = world
  if (byId('store').options.length !== stores.length) {
    const kept = chosen()
    byId('store').replaceChildren(...stores.map(({ slug, name }) => element('option', { value: slug }, name)))
    if (kept) byId('store').value = kept
  }
  const { clock, ...rest } = world
  showClock(clock)
  const text = JSON.stringify(rest)
  if (text === shown) return
  shown = text
  show(world)
}

function onSubmit(id, what, doing) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target, event.submitter))
    act(what, () => doing(fields, event.target))
  })
}

const write = (fields, text) => ask(`/messaging/${chosen()}/inbound`, { type: 'text', ...fields, text })
onSubmit('inbound', 'Message to the store', (fields) => write(fields, fields.text))
byId('say-stop').addEventListener('click', () => {
  const { text: _, ...fields } = Object.fromEntries(new FormData(byId('inbound')))
  act('STOP', () => write(fields, 'STOP'))
})
onSubmit('scan', 'Scan', (fields, form) =>
  ask('/messaging/scan', { ...fields, payload: form.dataset.payload }),
)
onSubmit('stock', 'Stock', ({ variantId, stock }) =>
  ask(`/ecommerce/${chosen()}/variants/${variantId}/stock`, { stock: Number(stock) }),
)
onSubmit('order', 'Order', ({ variantId, quantity, paymentStatus, cart, ...customer }) => {
  const items = [{ variantId, quantity: Number(quantity) }]
  if (cart) return ask(`/ecommerce/${chosen()}/carts`, { customer, items })
  return ask(`/ecommerce/${chosen()}/orders`, { customer, items, paymentStatus })
})

for (const each of document.querySelectorAll('#clock-buttons [data-seconds]')) {
  each.addEventListener('click', () =>
    act(each.textContent, () => ask('/clock', { advanceSeconds: Number(each.dataset.seconds) })),
  )
}
byId('present').addEventListener('click', () =>
  act('Back to now', () => ask('/clock', { now: new Date().toISOString() })),
)
byId('drain').addEventListener('click', () => act('Due jobs', () => ask('/jobs/drain', {})))
const doors = { 'provider-buttons': 'messaging', 'shop-buttons': 'ecommerce', 'billing-buttons': 'billing' }
for (const [id, port] of Object.entries(doors)) {
  for (const each of document.querySelectorAll(`#${id} button`)) {
    const { mode, status } = each.dataset
    const path = status ? 'agreement' : port === 'messaging' ? 'provider' : 'outage'
    each.addEventListener('click', () =>
      act(each.textContent, () => ask(`/${port}/${chosen()}/${path}`, status ? { status } : { mode })),
    )
  }
}

byId('store').addEventListener('change', () => refresh())
/** One look after the other, also where one takes long. */
async function keepLooking() {
  try {
    await refresh()
  } catch (error) {
    byId('status').textContent = error.message
  }
  setTimeout(keepLooking, 2000)
}
keepLooking()
