// The chat button: opens a conversation with the shop, or a choice of who to write to.

import { element, filled, fits, fitsPath, tell } from '../../storefront/script/loader/core.js'

export function showButton(settings) {
  if (!fits(settings.devices) || !fitsPath(settings)) return
  const isOpen = !settings.schedule.isEnabled || isWithin(settings.schedule.hours, settings.timezone)
  if (!isOpen && settings.schedule.outside === 'hide') return
  const side = settings.position === 'bottom-left' ? 'left' : 'right'
  const isSmall = matchMedia('(max-width: 767px)').matches
  const corner = element('div', {
    position: 'fixed',
    bottom: `${isSmall ? settings.mobileOffsetY : settings.offsetY}px`,
    [side]: `${settings.offsetX}px`,
    zIndex: 9800,
    textAlign: side,
  })
  corner.className = 'storefront-chat'
  if (!isOpen && settings.schedule.outsideMessage) {
    corner.append(element('p', { background: '#ffffff', padding: '8px' }, settings.schedule.outsideMessage))
  }
  const link = chatLink(settings, settings.phone)
  Object.assign(link.style, {
    display: 'inline-flex',
    alignItems: 'center',
    justifyContent: 'center',
    minWidth: `${settings.size}px`,
    height: `${settings.size}px`,
    padding: settings.label ? '0 16px' : 0,
    borderRadius: `${settings.size}px`,
    background: settings.backgroundColor,
    color: settings.iconColor,
  })
  link.textContent = settings.label || '💬'
  if (settings.tooltip) setTimeout(() => (link.title = settings.tooltip), settings.tooltipDelaySeconds * 1000)
  corner.append(link)
  if (settings.attendants.length > 0) {
    const choice = element('div', { background: '#ffffff', color: '#111827', padding: '8px' })
    choice.hidden = true
    for (const { name, role, phone } of settings.attendants) {
      const each = chatLink(settings, phone)
      each.textContent = role ? `${name}, ${role}` : name
      Object.assign(each.style, { display: 'block', padding: '6px', color: 'inherit' })
      choice.append(each)
    }
    link.addEventListener('click', (event) => {
      event.preventDefault()
      choice.hidden = !choice.hidden
    })
    corner.prepend(choice)
  }
  document.body.append(corner)
  tell('impression', 'messaging-button')
}

function chatLink(settings, phone) {
  const made = element('a', { textDecoration: 'none' })
  const message = filled(settings.message, {
    pageTitle: document.title,
    pageUrl: location.href,
    productName: document.querySelector('meta[property="og:title"]')?.content,
    storeName: document.querySelector('meta[property="og:site_name"]')?.content,
  })
  made.href = phone ? `https://wa.me/${phone.slice(1)}?text=${encodeURIComponent(message)}` : '#'
  made.target = '_blank'
  made.rel = 'noopener'
  made.addEventListener('click', () => tell('click', 'messaging-button'))
  return made
}

function isWithin(hours, timeZone) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  const parts = Object.fromEntries(format.formatToParts(new Date()).map(({ type, value }) => [type, value]))
  const time = `${parts.hour}:${parts.minute}`
  const day = parts.weekday.toLowerCase().slice(0, 3)
  return hours.some((each) => each.day === day && each.start <= time && time < each.end)
}
