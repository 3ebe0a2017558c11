// Decides when and to whom the popup is shown, and remembers that it was shown.

import { deepestFocus, isFor, msOf } from '../../../storefront/script/client/elements.js'
import { hasScrolled, watchScroll } from '../../../storefront/script/client/layers.js'

export const getPreviewToken = () => new URLSearchParams(location.search).get('popup_preview')

/** Requests the whole popup with the form's token, just before it is shown. */
export async function readPopup(ask) {
  const preview = getPreviewToken()
  const answer = await ask(`/newsletter${preview ? `?preview=${encodeURIComponent(preview)}` : ''}`)
  return { ...answer, readAt: performance.now() }
}

/**
 * Returns the display rules from the page's data. For a preview, requests them, because no page's data contains a
 * preview.
 */
export async function readRules({ ask, widgets }) {
  if (!getPreviewToken()) return widgets.newsletterRules
  const { enabled, settings } = await readPopup(ask)
  return enabled ? { ...settings, teaser: null } : null
}

/** Whether the popup is for this shopper and page. `isDue` checks the frequency separately. */
export function isEligible(rules, { keep, device, page, isReturning }) {
  if (!rules) return false
  if (getPreviewToken()) return true
  const { display } = rules
  if (!isFor(display, { device, page })) return false
  if (display.visitors === (isReturning ? 'new' : 'returning')) return false
  if (display.hideAfterSubscribe && keep.read('subscribed')) return false
  const now = msOf(new Date())
  return !(now < msOf(display.startsAt)) && !(now >= msOf(display.endsAt))
}

/** Whether the browser stores anything. */
function canStore(store) {
  store.write('probe', '1')
  const isThere = store.read('probe') !== null
  store.write('probe', null)
  return isThere
}

/** Whether the last display is long enough ago. False if the browser stores nothing, because then it is unknown. */
export function isDue({ frequency, frequencyDays }, { keep, session }) {
  if (frequency !== 'always' && !canStore(frequency === 'session' ? session : keep)) return false
  const last = Number(keep.read('popup') || 0)
  if (frequency === 'once') return last === 0
  if (frequency === 'session') return session.read('popup') === null
  if (frequency === 'days') return msOf(new Date()) - last >= frequencyDays * 86_400_000
  return true
}

export function rememberShown({ keep, session }) {
  keep.write('popup', String(msOf(new Date())))
  session.write('popup', '1')
}

/**
 * Calls `show` once, at the first of the triggers: the delay, the scroll position, or the exit intent. Returns a
 * function that cancels the triggers.
 */
export function whenDue({ delaySeconds, scrollPercent, exitIntent }, show) {
  const end = new AbortController()
  const { signal } = end
  const timers = []
  const later = (call, ms) => timers.push(setTimeout(call, ms))
  let typedAt = 0
  addEventListener('input', () => (typedAt = msOf(new Date())), { signal, capture: true })
  const due = () => {
    if (signal.aborted) return
    // Waits while the shopper is typing, is in another dialog, or is in another tab.
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
    if (hasScrolled(scrollPercent)) due()
  }
  if (delaySeconds !== null) later(due, delaySeconds * 1000)
  if (scrollPercent !== null) {
    signal.addEventListener('abort', watchScroll(look))
    look()
  }
  const leave = ({ relatedTarget, clientY }) => {
    if (!relatedTarget && clientY <= 0) due()
  }
  if (exitIntent) document.addEventListener('mouseout', leave, { signal })
  return stop
}
