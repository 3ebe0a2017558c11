/** Sandbox page: shows the state of the providers and customers, and changes it through /sandbox/api. */
import { ask, call, getKey, onRequest, readError, saveKey } from './parts/calls.js'
import { showCharts } from './parts/charts.js'
import { button, byId, element, fill, quiet, time } from './parts/dom.js'
import { showPhones } from './parts/phones.js'
import { refreshStories, showStories } from './parts/story-view.js'
import { beginTimeline, showTimeline } from './parts/timeline.js'

const chosen = () => byId('store').value
let shown = ''
let shownEvents = ''
/** The store whose key the page uses. */
let acting = null
const say = (text) => {
  byId('status').textContent = text
}

/** Runs an action, shows its result, and refreshes. */
async function act(what, doing) {
  say(`${what}…`)
  try {
    await doing()
    say(`${what}: done`)
  } catch (error) {
    say(`${what}: ${error.message}`)
  }
  await refresh()
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
    'No mail sent yet.',
  )
}

function showConnection({ code, setups, templates }) {
  byId('scan').hidden = code === null
  byId('scan-none').hidden = code !== null
  byId('scan-code').textContent = code === null ? '' : `A QR code is ready, until ${time(code.expiresAt)}.`
  byId('scan').dataset.payload = code === null ? '' : code.payload
  fill(
    'setups',
    setups.map((setup) =>
      element(
        'li',
        {},
        element('a', { href: setup.url }, 'Open the setup'),
        quiet(`until ${time(setup.endsAt)}`),
      ),
    ),
    'No open setup. Start one with POST /v1/officialapi/setup.',
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
    const selected = byId(id).value
    byId(id).replaceChildren(
      ...variants.map((each) =>
        element('option', { value: each.id }, `${each.name}, ${each.price} (${each.stock ?? 'any'} left)`),
      ),
    )
    if (variants.some((each) => each.id === selected)) byId(id).value = selected
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
    'No orders yet.',
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
    'No open checkout. Start one with POST /v1/subscription/create-preapproval.',
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
  showPhones(chosen(), world.messages, (message) => act(`${message.phone} writes`, () => write(message)))
  showMail(world.mail)
  showConnection(world)
  showShop(world)
  showBilling(world)
}

/** Refreshes run one after the other, because a late response to an older one would overwrite newer data. */
let loading = Promise.resolve()
let isNextQueued = false
function refresh() {
  if (isNextQueued) return loading
  isNextQueued = true
  const next = loading.then(() => {
    isNextQueued = false
    return load()
  })
  loading = next.catch(() => {})
  return next
}

/** Loads the state and redraws only if it changed, so that scroll position and focus stay. */
async function load() {
  const slug = chosen()
  const of = slug ? `?store=${encodeURIComponent(slug)}` : ''
  const world = await ask(`/world${of}`, undefined, { quiet: true })
  // Another store was chosen in the meantime: the next refresh loads it.
  if (slug !== chosen()) return
  const { stores } = world
  if (byId('store').options.length !== stores.length) {
    const selected = chosen()
    byId('store').replaceChildren(...stores.map(({ slug, name }) => element('option', { value: slug }, name)))
    if (selected) byId('store').value = selected
  }
  const { clock, ...rest } = world
  showClock(clock)
  const store = chosen()
  const hasNewEvents = await loadTimeline(clock)
  if (store !== chosen()) return
  const text = JSON.stringify(rest)
  const hasChanged = text !== shown
  shown = text
  if (hasChanged) show(world)
  await refreshStories(hasChanged || hasNewEvents)
}

/** Loads the timeline. Returns true if it has new events. */
async function loadTimeline({ offsetSeconds }) {
  if (!chosen()) return false
  const slug = chosen()
  const { data } = await ask(`/timeline?store=${encodeURIComponent(slug)}`, undefined, { quiet: true })
  if (slug !== chosen()) return false
  showTimeline(data, offsetSeconds)
  const text = JSON.stringify(data)
  const hasChanged = text !== shownEvents
  shownEvents = text
  return hasChanged
}

/** Loads the key of the chosen store, and updates the parts of the page that act as the store. */
async function loadKey() {
  const key = getKey(chosen())
  const { status, answer } = key
    ? await call({ method: 'GET', path: '/v1/store' }, { key, quiet: true })
    : { status: 0, answer: null }
  if (key && status === 401) saveKey(chosen(), null)
  acting = status === 200 ? answer : null
  byId('acting').textContent = acting
    ? `The page acts as ${acting.name}. The key stays in this tab.`
    : key
      ? `The key was refused: ${readError(status, answer)}`
      : 'Without a key the page acts only as customers and providers.'
  byId('forget').hidden = !acting
  byId('shop-link').href = `/sandbox/shop/${encodeURIComponent(chosen())}`
  byId('operations-found').replaceChildren()
  showStories(acting, say)
  await showCharts(acting ? key : null)
}

/** Asks the API which store a key belongs to, saves the key, and chooses that store. */
async function applyKey(key) {
  const { status, answer } = await call({ method: 'GET', path: '/v1/store' }, { key, quiet: true })
  if (status !== 200) throw new Error(readError(status, answer))
  saveKey(answer.slug, key)
  byId('store').value = answer.slug
  await loadKey()
}

function onSubmit(id, what, doing) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target, event.submitter))
    act(what, () => doing(fields, event.target))
  })
}

const write = (message) => ask(`/messaging/${chosen()}/inbound`, { type: 'text', ...message })
onSubmit('inbound', 'Message to the store', (fields) => write(fields))
byId('say-stop').addEventListener('click', () => {
  const fields = Object.fromEntries(new FormData(byId('inbound')))
  act('STOP', () => write({ ...fields, text: 'STOP' }))
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
const ports = { 'provider-buttons': 'messaging', 'shop-buttons': 'ecommerce', 'billing-buttons': 'billing' }
for (const [id, port] of Object.entries(ports)) {
  for (const each of document.querySelectorAll(`#${id} button`)) {
    const { mode, status } = each.dataset
    const path = status ? 'agreement' : port === 'messaging' ? 'provider' : 'outage'
    each.addEventListener('click', () =>
      act(each.textContent, () => ask(`/${port}/${chosen()}/${path}`, status ? { status } : { mode })),
    )
  }
}

byId('store').addEventListener('change', async () => {
  await loadKey()
  await refresh()
})
byId('key').addEventListener('submit', (event) => {
  event.preventDefault()
  const key = byId('key-text').value.trim()
  byId('key-text').value = ''
  act('The key', () => applyKey(key))
})
byId('forget').addEventListener('click', async () => {
  saveKey(chosen(), null)
  await loadKey()
})
byId('draw').addEventListener('click', () => showCharts(acting ? getKey(chosen()) : null))
byId('operations').addEventListener('submit', (event) => {
  event.preventDefault()
  act('Operations', searchOperations)
})

async function searchOperations() {
  if (!acting) throw new Error('enter the key of the store first')
  const { status, answer } = await call({ method: 'GET', path: '/v1/operations' }, { key: getKey(chosen()) })
  if (status !== 200) throw new Error(readError(status, answer))
  const words = byId('operations-search').value.toLowerCase().split(/\s+/)
  const found = answer.data.filter(({ method, path, description }) =>
    words.every((word) => `${method} ${path} ${description}`.toLowerCase().includes(word)),
  )
  fill(
    'operations-found',
    found.map(({ method, path, description }) =>
      element('li', {}, element('code', {}, `${method} /v1${path}`), quiet(description)),
    ),
    'No matching operations.',
  )
}

async function poll() {
  try {
    await refresh()
  } catch (error) {
    say(error.message)
  }
  setTimeout(poll, 2000)
}

/** Starts the page. A key in the URL fragment, which browsers do not send to the server, is read and removed. */
async function start() {
  beginTimeline()
  // Makes the lists scrollable by keyboard.
  for (const list of document.querySelectorAll('.list')) list.tabIndex = 0
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  const named = new URLSearchParams(location.search).get('store')
  if (given) history.replaceState(null, '', `${location.pathname}${location.search}`)
  await poll()
  if (named && [...byId('store').options].some(({ value }) => value === named)) byId('store').value = named
  onRequest(() => refresh().catch(() => {}))
  if (given) await act('The key', () => applyKey(given))
  else await loadKey()
}
start()
