// Alerts about real events in the store; the server renders their texts. Each corner has its own element, which
// stacks the alerts.

import {
  h,
  isFor,
  Picture,
  useEffect,
  useEvent,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'

export default {
  css: `
:host { display: contents; }
.alerts { display: flex; flex-flow: column wrap; gap: 12px; max-width: 100%; }
/* An alert that does not fit wraps into a hidden column instead of being cut off. */
@media (max-width: 767px), (max-height: 479px) { .alerts { width: 320px; max-height: var(--storefront-passing, none); overflow: hidden; } }
.alerts:empty { display: none; }
.alert { position: relative; display: flex; gap: 12px; align-items: center; padding: 12px 16px; width: 320px; max-width: 100%; min-height: 56px; box-shadow: 0 2px 12px #0003; font-size: 14px; animation: come .25s; }
.alert.closable { padding-inline-end: 44px; }
.alert img { flex: none; width: 48px; height: 48px; object-fit: cover; border-radius: 4px; }
.alert a { text-decoration: none; }
.alert a::after { content: ''; position: absolute; inset: 0; }
.words { min-width: 0; overflow-wrap: anywhere; }
small { display: block; font-size: 12px; }
.close { z-index: 1; inset-block-start: 4px; inset-inline-end: 4px; font-size: 16px; }
@keyframes come { from { opacity: 0; transform: translateY(8px); } }
`,
  texts: {
    en: { close: 'Close', label: 'What happens in the shop' },
    'pt-BR': { close: 'Fechar', label: 'O que acontece na loja' },
    es: { close: 'Cerrar', label: 'Lo que pasa en la tienda' },
  },
  places: (alerts, api) =>
    [...new Set(alerts.filter((alert) => isFor(alert, api)).map(({ position }) => position))].map(
      (position) => ({ spot: `corner-${position}`, attributes: { placement: position }, isPassing: true }),
    ),
  view: Alerts,
}

const feeds = new Map()
/** Loads the feed when the first alert is due. All corners of a page share one request. */
function readFeed(ask, productId) {
  const path = `/fomo-feed${productId ? `?productId=${encodeURIComponent(productId)}` : ''}`
  if (!feeds.has(path))
    feeds.set(
      path,
      ask(path).catch((error) => {
        feeds.delete(path)
        throw error
      }),
    )
  return feeds.get(path)
}

function Alerts(props) {
  const { data, attribute, t } = props
  const [isQuiet, setQuiet] = useState(false)
  // Alerts pause while a popup is open.
  useEvent('storefront:popup', ({ state }) => setQuiet(state === 'open'))
  const placement = attribute('placement')
  const shown = data.filter((alert) => isFor(alert, props) && (!placement || alert.position === placement))
  return h(
    'div',
    { class: 'alerts', role: 'log', 'aria-label': t('label'), 'aria-live': 'polite' },
    shown.map((alert) => h(AlertQueue, { key: alert.alertType, ...props, alert, isQuiet })),
  )
}

/** Shows the alerts of one type one after the other, within the limits per page and session. */
function AlertQueue({ alert, ask, productId, session, isQuiet, host, ...props }) {
  const { alertType, initialDelaySeconds, intervalSeconds, maxPerPage, maxPerSession, randomize } = alert
  const name = `alerts.${alertType}`
  const [items, setItems] = useState(null)
  const [item, setItem] = useState(null)
  const [waits, setWaits] = useState(0)
  const count = useRef(0)
  const countShown = () => Number(session.read(name) || 0)
  const next = async () => {
    if (count.current >= maxPerPage || countShown() >= maxPerSession) return
    let waiting = items
    if (waiting === null) {
      const { data } = await readFeed(ask, productId)
      waiting = data.filter((each) => each.alertType === alertType)
      if (randomize) waiting = shuffle(waiting)
    }
    const [first, ...others] = waiting
    setItems(others)
    if (!first) return
    count.current += 1
    session.write(name, String(countShown() + 1))
    setItem(first)
  }
  useEffect(() => {
    if (item || isQuiet) return
    // Without room on a phone, the alert waits until something else is closed.
    const hasRoom = () => host.parentElement?.style.getPropertyValue('--storefront-passing') !== '0px'
    const timer = setTimeout(
      () => (hasRoom() ? next().catch(() => {}) : setWaits(waits + 1)),
      waits > 0 ? 1000 : (items === null ? initialDelaySeconds : intervalSeconds) * 1000,
    )
    return () => clearTimeout(timer)
  }, [item, isQuiet, waits])
  return item && !isQuiet
    ? h(Alert, { ...props, key: count.current, alert, item, onOver: () => setItem(null) })
    : null
}

function shuffle(items) {
  const remaining = [...items]
  return items.map(() => remaining.splice(Math.floor(Math.random() * remaining.length), 1)[0])
}

function Alert({ alert, item, onOver, t, tell }) {
  const { alertType: resourceId, backgroundColor, textColor, borderRadius, displaySeconds } = alert
  const [isPaused, setPaused] = useState(false)
  const wasClicked = useRef(false)
  const seen = useSeen(() => tell('impression', 'fomo-alert', { resourceId }))
  const remainingMs = useRef(displaySeconds * 1000)
  useEffect(() => {
    if (isPaused) return
    const since = performance.now()
    const timer = setTimeout(onOver, remainingMs.current)
    return () => {
      clearTimeout(timer)
      // Stores the remaining time, at least a second, so that the alert does not vanish right after a pause.
      remainingMs.current = Math.max(1000, remainingMs.current - (performance.now() - since))
    }
  }, [isPaused])
  const click = () => {
    if (!wasClicked.current) tell('click', 'fomo-alert', { resourceId })
    wasClicked.current = true
  }
  const pause = () => setPaused(true)
  const resume = () => setPaused(false)
  const { text, timeAgo } = item
  const words = [text, alert.showTime && timeAgo ? h('small', { part: 'time' }, timeAgo) : null]
  const props = {
    ref: seen,
    class: `alert${alert.isClosable ? ' closable' : ''}`,
    part: 'alert',
    style: { background: backgroundColor, color: textColor, borderRadius: `${borderRadius}px` },
    onMouseEnter: pause,
    onMouseLeave: resume,
    onFocusIn: pause,
    onFocusOut: resume,
  }
  return h(
    'div',
    props,
    alert.showImage ? h(Picture, { part: 'image', src: item.imageUrl }) : null,
    alert.linkToProduct && item.url
      ? h('a', { class: 'words', part: 'link', href: item.url, onClick: click }, words)
      : h('div', { class: 'words' }, words),
    alert.isClosable
      ? h(
          'button',
          { type: 'button', class: 'close', part: 'close', 'aria-label': t('close'), onClick: onOver },
          '✕',
        )
      : null,
  )
}
