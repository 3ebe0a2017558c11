// Small alerts of what really happened in the shop: the server renders their texts.

import { ask, element, fits, onPage, tell } from '../../storefront/script/loader/core.js'

export async function showAlerts(alerts, { page, productId }) {
  const shown = alerts.filter((alert) => fits(alert.devices) && onPage(alert.pages, page))
  if (shown.length === 0) return
  const { data } = await ask(`/fomo-feed${productId ? `?productId=${encodeURIComponent(productId)}` : ''}`)
  for (const alert of shown) {
    const items = data.filter((item) => item.alertType === alert.alertType)
    if (alert.randomize) items.sort(() => Math.random() - 0.5)
    showInTurn(alert, items.slice(0, alert.maxPerPage))
  }
}

function showInTurn(alert, items) {
  const name = `alerts.${alert.alertType}`
  const next = () => {
    const item = items.shift()
    let told = 0
    try {
      told = Number(sessionStorage.getItem(name) || 0)
      sessionStorage.setItem(name, String(told + 1))
    } catch {
      told = 0 // storage is switched off: the limit of the page holds alone
    }
    if (!item || told >= alert.maxPerSession) return
    const box = drawAlert(alert, item)
    tell('impression', 'fomo-alert', { resourceId: alert.alertType })
    setTimeout(() => {
      box.remove()
      setTimeout(next, alert.intervalSeconds * 1000)
    }, alert.displaySeconds * 1000)
  }
  setTimeout(next, alert.initialDelaySeconds * 1000)
}

function drawAlert(alert, item) {
  const [vertical, horizontal] = alert.position.split('-')
  const box = element(alert.linkToProduct && item.url ? 'a' : 'div', {
    [vertical]: '16px',
    [horizontal]: '16px',
    position: 'fixed',
    zIndex: 9500,
    padding: '12px 16px',
    maxWidth: '320px',
    background: alert.backgroundColor,
    color: alert.textColor,
    borderRadius: `${alert.borderRadius}px`,
    boxShadow: '0 2px 12px #0003',
  })
  if (box.tagName === 'A') box.href = item.url
  if (alert.showImage && item.imageUrl) {
    box.append(Object.assign(element('img', { height: '48px' }), { src: item.imageUrl, alt: '' }))
  }
  box.append(element('span', {}, item.text))
  if (alert.showTime && item.timeAgo) box.append(element('small', { display: 'block' }, item.timeAgo))
  if (alert.isClosable) {
    const close = element('button', { border: 0, background: 'none', color: 'inherit' }, '×')
    close.addEventListener('click', (event) => {
      event.preventDefault()
      box.remove()
    })
    box.append(close)
  }
  box.addEventListener('click', () => tell('click', 'fomo-alert', { resourceId: alert.alertType }))
  document.body.append(box)
  return box
}
