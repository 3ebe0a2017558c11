// First part of the loader, which `modules.ts` puts before it: the visitor, requests to the server, and events.

/** `base`: the store's storefront on our server; `said`: reads attributes of the script tag. */
export function createVisitor(base, said) {
  /** Storage may be disabled or full: then nothing is remembered. Without session storage, a session is one page. */
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

  // A first-time visitor stays new until the visit ends.
  const isReturning = keep.read('visitor') !== null && session.read('new') === null
  if (!isReturning) session.write('new', '1')
  const visitorId = keep.read('visitor') || uuid()
  keep.write('visitor', visitorId)
  // A phone in landscape is still a phone.
  const device = matchMedia('(max-width: 767px), (max-height: 479px) and (pointer: coarse)').matches
    ? 'mobile'
    : 'desktop'

  // Not crypto.randomUUID: shops without https do not have it.
  function uuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

  // One key per filling of a form: a form sent twice is processed once and gets the same answer.
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

  // Events are sent in batches, a moment after the first one and when the page is hidden. They wait here until the
  // server has accepted them; unsent ones are sent from the next page. The server counts each once, by its id.
  let waiting = unsent()
  let leaving = new Set()
  let timer = waiting.length > 0 ? setTimeout(sendEvents, 2000) : null

  /** Another script of the shop may have written to the same key. */
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
      // Keeps them for the next try.
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

  // A link in a message carries a click token; the following order brings it back.
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

  return { ask, clickToken, consent, device, isReturning, keep, session, tell, visitorId }
}
