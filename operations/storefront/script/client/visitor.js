// First part of the loader: the visitor's identity, requests to the server, and events. `modules.ts` puts this file before
// `loader.js`.

/** `base` is the URL of the store's storefront on our server. `said` reads a `data-` attribute of the script tag. */
export function createVisitor(base, said) {
  /** Opens a storage. If the browser's storage is disabled or full, nothing is remembered, and a session lasts one page. */
  const openStorage = (name) => ({
    read(key) {
      try {
        return window[name].getItem(`storefront.${key}`)
      } catch {
        return null
      }
    },
    write(key, value) {
      if (!isAllowed) return
      try {
        if (value === null) window[name].removeItem(`storefront.${key}`)
        else window[name].setItem(`storefront.${key}`, value)
      } catch {
        // Nothing is remembered.
      }
    },
    clear() {
      try {
        for (const key of Object.keys(window[name]))
          if (key.startsWith('storefront.')) window[name].removeItem(key)
      } catch {
        // Nothing is stored.
      }
    },
  })

  // A theme with its own consent banner sets `data-consent="ask"` and calls `storefront.consent(true)` once the shopper
  // agrees. The last decision is stored, including a refusal.
  let isAllowed = true
  const keep = openStorage('localStorage')
  const session = openStorage('sessionStorage')
  isAllowed = (keep.read('consent') ?? (said('consent') === 'ask' ? '0' : '1')) === '1'

  // A first-time visitor counts as new on all pages of the session.
  const isReturning = keep.read('visitor') !== null && session.read('new') === null
  if (!isReturning) session.write('new', '1')
  const visitorId = keep.read('visitor') || uuid()
  keep.write('visitor', visitorId)
  // A phone in landscape is wide but low.
  const device = matchMedia('(max-width: 767px), (max-height: 479px) and (pointer: coarse)').matches
    ? 'mobile'
    : 'desktop'

  // `crypto.randomUUID` does not exist on pages without https.
  function uuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

  // How far the server's clock is ahead of the device's. A response was made at its `Date`, and `Age` is how long a cache
  // between has kept it. The browser's own cache adds no `Age`: its responses, up to six minutes old, show too small a
  // lead. So the largest lead counts, until the device's clock is changed by more than that.
  const msOf = (instant) => new Date(instant ?? Number.NaN).getTime()
  let lead = Number.parseFloat(keep.read('lead'))
  function noteServerTime(headers) {
    const age = (Number(headers.get('age')) || 0) * 1000
    const seen = msOf(headers.get('date')) + age - msOf(new Date())
    if (Number.isNaN(seen) || (seen <= lead && lead - seen < 600_000)) return
    lead = seen
    keep.write('lead', String(lead))
  }
  /** The server's time in milliseconds; the device's until a response has come. */
  const serverNow = () => msOf(new Date()) + (lead || 0)

  // One idempotency key for each request body: a form sent twice is processed once and gets the same response.
  const keys = new Map()

  async function ask(path, body, again = 1) {
    const text = body && JSON.stringify(body)
    const filling = `${path} ${text}`
    if (text && !keys.has(filling)) keys.set(filling, uuid())
    let response
    try {
      response = await fetch(base + path, {
        method: text ? 'POST' : 'GET',
        headers: text ? { 'Content-Type': 'application/json', 'Idempotency-Key': keys.get(filling) } : {},
        body: text,
        credentials: 'omit',
        cache: said('fresh') ? 'no-cache' : 'default',
        signal: AbortSignal.timeout?.(15_000),
      })
      noteServerTime(response.headers)
      if (response.status >= 500 || (response.status === 429 && !text))
        throw new Error(`The server answered ${response.status}`)
    } catch (error) {
      if (again === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return ask(path, body, again - 1)
    }
    const answer = response.status === 204 ? null : await response.json()
    if (!response.ok) throw Object.assign(new Error(answer?.error?.message), { code: answer?.error?.code })
    return answer
  }

  // Events are sent in batches, two seconds after the first event and when the page is hidden. They wait here until the
  // server has accepted them; the next page sends those that are left. The server counts each event once, by its id.
  let waiting = unsent()
  let leaving = new Set()
  let timer = waiting.length > 0 ? setTimeout(sendEvents, 2000) : null

  /** Events that the last page has not sent. Ignores anything else, because other scripts may write to the same key. */
  function unsent() {
    try {
      return JSON.parse(keep.read('events')).filter((each) => each?.id && each.type)
    } catch {
      return []
    }
  }

  function tell(type, widget, fields) {
    if (!isAllowed) return
    const event = { id: uuid(), type, widget, ...fields }
    document.dispatchEvent(new CustomEvent('storefront:event', { detail: event }))
    waiting.push(event)
    if (waiting.length >= 50) sendEvents()
    else timer ??= setTimeout(sendEvents, 2000)
  }

  function keepEvents() {
    waiting = waiting.slice(-200)
    keep.write('events', waiting.length > 0 ? JSON.stringify(waiting) : null)
  }

  async function sendEvents() {
    clearTimeout(timer)
    timer = null
    const events = waiting.filter((each) => !leaving.has(each)).slice(0, 50)
    if (events.length === 0) return
    for (const each of events) leaving.add(each)
    keepEvents()
    let isTaken = false
    try {
      const { status } = await fetch(`${base}/events`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ visitorId, device, events }),
        credentials: 'omit',
        keepalive: true,
      })
      isTaken = status < 500 && status !== 429
    } catch {
      // The events stay in `waiting` for the next attempt.
    }
    leaving = new Set([...leaving].filter((each) => !events.includes(each)))
    if (isTaken) waiting = waiting.filter((each) => !events.includes(each))
    keepEvents()
    if (waiting.length > 0) timer ??= setTimeout(sendEvents, isTaken ? 2000 : 30_000)
  }
  addEventListener('pagehide', sendEvents)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') sendEvents()
  })

  // A link in a message has a click token as `mk`. An order that contains the token is attributed to the message.
  const clickToken = new URLSearchParams(location.search).get('mk') || keep.read('click')
  if (clickToken) keep.write('click', clickToken)

  function consent(isGiven) {
    isAllowed = true
    if (isGiven) {
      keep.write('visitor', visitorId)
      if (clickToken) keep.write('click', clickToken)
    } else {
      waiting = []
      keep.clear()
      session.clear()
    }
    keep.write('consent', isGiven ? '1' : '0')
    isAllowed = isGiven
  }

  return { ask, clickToken, consent, device, isReturning, keep, serverNow, session, tell, visitorId }
}
