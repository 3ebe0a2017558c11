// Bars at the top or bottom of the page.

import { element, filled, fits, keep, onPage } from '../storefront/script/loader/core.js'

const edges = {}

function edge(position, isSticky) {
  edges[position] ??= (() => {
    const place = position === 'bottom' ? { bottom: 0 } : { top: 0 }
    const made = element('div', { ...place, position: isSticky ? 'sticky' : 'static', zIndex: 9000 })
    if (position === 'bottom') document.body.append(made)
    else document.body.prepend(made)
    return made
  })()
  return edges[position]
}

function bar(settings, name) {
  const made = element('div', {
    background: settings.backgroundColor,
    color: settings.textColor,
    padding: '10px 16px',
    textAlign: 'center',
  })
  made.className = `storefront-bar storefront-${name}`
  if (settings.isClosable) {
    if (keep.read(`closed.${name}`)) return null
    const close = element('button', { float: 'right', border: 0, background: 'none', color: 'inherit' }, '×')
    close.setAttribute('aria-label', 'Close')
    close.addEventListener('click', () => {
      keep.write(`closed.${name}`, '1')
      made.remove()
    })
    made.append(close)
  }
  edge(settings.position || 'top', settings.isSticky !== false).append(made)
  return made
}

export function showBars({ freeShippingBar, countdownBar, actionBar }, page) {
  const isShown = (settings) => settings && fits(settings.devices) && onPage(settings.pages, page)
  if (isShown(freeShippingBar)) drawFreeShipping(freeShippingBar)
  if (isShown(countdownBar)) drawCountdown(countdownBar)
  if (isShown(actionBar)) drawActions(actionBar)
}

// A theme tells of its cart: document.dispatchEvent(new CustomEvent('storefront:cart', { detail: { total, items } })).
function drawFreeShipping(settings) {
  const made = bar(settings, 'free-shipping')
  if (!made) return
  const text = element('span', {})
  const track = element('div', { background: settings.trackColor, height: '6px', marginTop: '6px' })
  const progress = element('div', { background: settings.progressColor, height: '6px' })
  track.append(progress)
  made.append(text)
  if (settings.showProgress) made.append(track)
  const money = new Intl.NumberFormat(settings.locale, { style: 'currency', currency: settings.currency })
  const show = ({ total = 0, totalBeforeDiscounts = total, items = [] } = {}) => {
    const left = items
      .filter((item) => settings.excludedProductIds.includes(String(item.productId)))
      .reduce((sum, item) => sum - item.total, settings.afterDiscounts ? total : totalBeforeDiscounts)
    const counted = Math.max(0, left)
    const percent = Math.min(100, Math.floor((counted / settings.threshold) * 100))
    const words =
      counted === 0 ? settings.initialText : percent < 100 ? settings.progressText : settings.successText
    text.textContent = filled(words, {
      threshold: money.format(settings.threshold),
      remaining: money.format(Math.max(0, settings.threshold - counted)),
      total: money.format(counted),
      percent: String(percent),
    })
    progress.style.width = `${percent}%`
  }
  show(window.storefrontCart)
  document.addEventListener('storefront:cart', (event) => show(event.detail))
}

function drawCountdown(settings) {
  const made = bar(settings, 'countdown')
  if (!made) return
  const announcement = element(settings.linkUrl ? 'a' : 'span', { color: 'inherit' })
  const clock = element('strong', { color: settings.timerColor, marginLeft: '8px' })
  if (settings.linkUrl) announcement.href = settings.linkUrl
  made.append(announcement, clock)
  let turn = 0
  const rotate = () => {
    const { announcements } = settings
    if (announcements.length === 0) return
    announcement.textContent = announcements[turn % announcements.length].text
    turn += 1
  }
  rotate()
  if (settings.announcements.length > 1) setInterval(rotate, settings.rotationSeconds * 1000)
  const { countdown } = settings
  if (!countdown) return
  const ends = countdown.type === 'evergreen' ? evergreenEnd(countdown) : Date.parse(countdown.endsAt)
  const tick = () => {
    const seconds = Math.floor((ends - Date.now()) / 1000)
    if (seconds < 0) {
      clock.textContent = countdown.afterEnd === 'text' ? countdown.endedText : ''
      return clearInterval(ticking)
    }
    const hours = String(Math.floor(seconds / 3600)).padStart(2, '0')
    const rest = [Math.floor((seconds % 3600) / 60), seconds % 60].map((each) =>
      String(each).padStart(2, '0'),
    )
    clock.textContent = filled(countdown.text, { countdown: [hours, ...rest].join(':') })
  }
  const ticking = setInterval(tick, 1000)
  tick()
}

function evergreenEnd({ durationMinutes, restartAfterHours }) {
  const began = Number(keep.read('evergreen') || 0)
  const ends = began + durationMinutes * 60_000
  const isOver = restartAfterHours !== null && Date.now() >= ends + restartAfterHours * 3_600_000
  if (began && !isOver) return ends
  keep.write('evergreen', String(Date.now()))
  return Date.now() + durationMinutes * 60_000
}

function drawActions(settings) {
  const made = bar(settings, 'actions')
  if (!made) return
  if (settings.text) made.append(element('span', { marginRight: '12px' }, settings.text))
  for (const action of settings.actions) {
    const colours = { background: action.backgroundColor, color: action.textColor }
    const link = element('a', { ...colours, padding: '6px 12px', margin: '0 4px' }, action.label)
    link.href = action.url || '#'
    if (!action.url) {
      link.addEventListener('click', (event) => {
        event.preventDefault()
        if (action.type === 'coupon') navigator.clipboard?.writeText(action.target)
        else scrollTo({ top: 0, behavior: 'smooth' })
      })
    }
    made.append(link)
  }
  if (settings.showAfterScrollPercent === 0) return
  made.hidden = true
  addEventListener('scroll', () => {
    const height = document.documentElement.scrollHeight - innerHeight
    made.hidden = height > 0 && (scrollY / height) * 100 < settings.showAfterScrollPercent
  })
}
