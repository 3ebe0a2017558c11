// When the popup shows itself, to whom, and what is remembered of it.

import { deepestFocus, isFor, msOf } from '../../../storefront/script/client/elements.js'

export const previewed = () => new URLSearchParams(location.search).get('popup_preview')

/** All of it, and the form's token: asked for once it is to be seen. */
export async function readPopup(ask) {
  const preview = previewed()
  const answer = await ask(`/newsletter${preview ? `?preview=${encodeURIComponent(preview)}` : ''}`)
  return { ...answer, readAt: performance.now() }
}

/** When it shows itself and to whom, which the page knows; of a preview, which no page knows, what it is told. */
export async function rulesOf({ ask, widgets }) {
  if (!previewed()) return widgets.newsletterRules
  const { enabled, settings } = await readPopup(ask)
  return enabled ? { ...settings, teaser: null } : null
}

/** Whether it is for this shopper, here and now; how often apart. */
export function isWelcome(rules, { keep, device, page, isReturning }) {
  if (!rules) return false
  if (previewed()) return true
  const { display } = rules
  if (!isFor(display, { device, page })) return false
  if (display.visitors === (isReturning ? 'new' : 'returning')) return false
  if (display.hideAfterSubscribe && keep.read('subscribed')) return false
  const now = msOf(new Date())
  return !(now < msOf(display.startsAt)) && !(now >= msOf(display.endsAt))
}

/** Whether what is written there is there later. */
function remembers(store) {
  store.write('probe', '1')
  const isThere = store.read('probe') !== null
  store.write('probe', null)
  return isThere
}

/** Whether it was not shown too lately to show itself again; where nothing can be remembered it is not known. */
export function isDue({ frequency, frequencyDays }, { keep, session }) {
  if (frequency !== 'always' && !remembers(frequency === 'session' ? session : keep)) return false
  const last = Number(keep.read('popup') || 0)
  if (frequency === 'once') return last === 0
  if (frequency === 'session') return session.read('popup') === null
  if (frequency === 'days') return msOf(new Date()) - last >= frequencyDays * 86_400_000
  return true
}

export function remember({ keep, session }) {
  keep.write('popup', String(msOf(new Date())))
  session.write('popup', '1')
}

/** Calls once what comes first: the delay, the scrolling, the way out. Answers what calls it off. */
export function whenDue({ delaySeconds, scrollPercent, exitIntent }, show) {
  const end = new AbortController()
  const { signal } = end
  const timers = []
  const later = (call, ms) => timers.push(setTimeout(call, ms))
  let typedAt = 0
  addEventListener('input', () => (typedAt = msOf(new Date())), { signal, capture: true })
  const due = () => {
    if (signal.aborted) return
    // Nobody is disturbed while typing, within another dialog, or in another tab.
    const isBusy =
      document.hidden ||
      msOf(new Date()) - typedAt < 3000 ||
      deepestFocus()?.closest?.('dialog[open], [aria-modal=true]')
    if (isBusy) return later(due, 1000)
    stop()
    show()
  }
  const stop = () => {
    end.abort()
    timers.forEach(clearTimeout)
  }
  const look = () => {
    const height = document.documentElement.scrollHeight - innerHeight
    if (height <= 0 || (scrollY / height) * 100 >= scrollPercent) due()
  }
  if (delaySeconds !== null) later(due, delaySeconds * 1000)
  if (scrollPercent !== null) {
    addEventListener('scroll', look, { passive: true, signal })
    look()
  }
  const leave = ({ relatedTarget, clientY }) => {
    if (!relatedTarget && clientY <= 0) due()
  }
  if (exitIntent) document.addEventListener('mouseout', leave, { signal })
  return stop
}
