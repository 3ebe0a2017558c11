// The popup: what it looks like and when it shows comes from GET /newsletter.

import {
  address,
  ask,
  device,
  element,
  fits,
  fitsPath,
  isReturning,
  keep,
  tell,
  visitorId,
} from '../../storefront/script/loader/core.js'

export async function startPopup() {
  const preview = address.get('popup_preview')
  const { enabled, token, settings } = await ask(
    `/newsletter${preview ? `?preview=${encodeURIComponent(preview)}` : ''}`,
  )
  if (!enabled) return
  if (preview) return drawPopup(settings, token, true)
  if (!mayShow(settings.display)) return
  when(settings.display, () => drawPopup(settings, token, false))
}

function mayShow(display) {
  if (!fits(display.devices)) return false
  if (display.visitors === 'new' && isReturning) return false
  if (display.visitors === 'returning' && !isReturning) return false
  if (display.hideAfterSubscribe && keep.read('subscribed')) return false
  const now = Date.now()
  if (display.startsAt && now < Date.parse(display.startsAt)) return false
  if (display.endsAt && now >= Date.parse(display.endsAt)) return false
  if (!fitsPath(display)) return false
  const last = Number(keep.read('popup') || 0)
  if (display.frequency === 'once') return last === 0
  if (display.frequency === 'session') return !sessionShown()
  if (display.frequency === 'days') return now - last >= display.frequencyDays * 86_400_000
  return true
}

function sessionShown() {
  try {
    return sessionStorage.getItem('storefront.popup') !== null
  } catch {
    return false // storage is switched off: it shows once a page
  }
}

function when(display, show) {
  let isDone = false
  const once = () => {
    if (isDone) return
    isDone = true
    show()
  }
  if (display.delaySeconds !== null) setTimeout(once, display.delaySeconds * 1000)
  if (display.scrollPercent !== null) {
    addEventListener('scroll', () => {
      const height = document.documentElement.scrollHeight - innerHeight
      if (height <= 0 || (scrollY / height) * 100 >= display.scrollPercent) once()
    })
  }
  if (display.exitIntent) {
    document.addEventListener('mouseout', (event) => {
      if (!event.relatedTarget && event.clientY <= 0) once()
    })
  }
  if (display.teaserEnabled && display.teaserText) {
    const corner = { position: 'fixed', left: '16px', bottom: '16px', zIndex: 99_998, padding: '8px 14px' }
    const teaser = element('button', corner, display.teaserText)
    teaser.addEventListener('click', () => {
      teaser.remove()
      once()
    })
    document.body.append(teaser)
  }
}

function drawPopup(settings, token, isPreview) {
  const { design, texts, fields, layout } = settings
  const overlay = element('div', {
    position: 'fixed',
    inset: layout === 'bar' ? 'auto 0 0 0' : layout === 'slide-in' ? 'auto 16px 16px auto' : '0',
    zIndex: 99_999,
    display: 'flex',
    alignItems: 'center',
    justifyContent: 'center',
    background: layout === 'modal' || layout === 'fullscreen' ? design.overlayColor : 'transparent',
  })
  const box = element('form', {
    background: design.backgroundColor,
    color: design.textColor,
    borderRadius: `${layout === 'fullscreen' ? 0 : design.borderRadius}px`,
    fontFamily: design.fontFamily || 'inherit',
    padding: '24px',
    maxWidth: layout === 'fullscreen' ? 'none' : '420px',
    width: '100%',
    boxSizing: 'border-box',
    // What is higher than the window is scrolled: its way out would lie beyond the edge otherwise.
    maxHeight: layout === 'slide-in' ? 'calc(100dvh - 32px)' : '100dvh',
    overflowY: 'auto',
  })
  box.className = 'storefront-popup'
  box.setAttribute('role', 'dialog')
  box.setAttribute('aria-label', texts.title)
  if (design.customCss) box.append(element('style', {}, design.customCss))
  if (design.imageUrl && design.imagePosition !== 'none') {
    box.append(Object.assign(element('img', { maxWidth: '100%' }), { src: design.imageUrl, alt: '' }))
  }
  box.append(element('h2', { margin: '0 0 8px' }, texts.title), element('p', {}, texts.description))
  const inputs = {}
  for (const [name, type] of [
    ['name', 'text'],
    ['email', 'email'],
    ['phone', 'tel'],
  ]) {
    if (!fields[name].enabled) continue
    const line = { display: 'block', width: '100%', boxSizing: 'border-box', margin: '8px 0', padding: '8px' }
    const input = element('input', line)
    Object.assign(input, { type, required: fields[name].required, placeholder: texts[`${name}Placeholder`] })
    inputs[name] = input
    box.append(input)
  }
  const trap = Object.assign(element('input', { display: 'none' }), { name: 'website', tabIndex: -1 })
  const consent = Object.assign(element('input', {}), {
    type: 'checkbox',
    required: settings.consentRequired,
  })
  const consentLine = element('label', { display: 'block', fontSize: '13px' }, ` ${texts.consentText}`)
  consentLine.prepend(consent)
  const button = element(
    'button',
    { background: design.buttonColor, color: design.buttonTextColor, padding: '10px 18px', border: 0 },
    settings.roulette?.enabled ? texts.spinText : texts.buttonText,
  )
  const close = element('button', { border: 0, background: 'none', color: 'inherit' }, texts.closeText)
  close.type = 'button'
  const said = element('p', {})
  said.setAttribute('role', 'status')
  box.append(trap, consentLine, button, close, said)
  const shut = () => {
    overlay.remove()
    removeEventListener('keydown', onKey)
    // Who subscribed did not turn it down.
    if (!isPreview && !box.dataset.thanked) tell('close', 'newsletter')
  }
  const onKey = (event) => {
    if (event.key === 'Escape') shut()
  }
  addEventListener('keydown', onKey)
  close.addEventListener('click', shut)
  overlay.addEventListener('click', (event) => {
    if (event.target === overlay) shut()
  })
  box.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    const typed = Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]),
    )
    const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value))
    const about = { consent: consent.checked, visitorId, pageUrl: location.href, device, website: trap.value }
    try {
      const answer = await ask('/newsletter/subscribers', { token, ...given, ...about })
      if (!isPreview) keep.write('subscribed', '1')
      thank(box, close, texts, answer)
    } catch (error) {
      said.textContent = error.message || texts.errorMessage
      button.disabled = false
    }
  })
  overlay.append(box)
  document.body.append(overlay)
  if (isPreview) return
  keep.write('popup', String(Date.now()))
  try {
    sessionStorage.setItem('storefront.popup', '1')
  } catch {
    // storage is switched off: it shows once a page
  }
  tell('impression', 'newsletter')
}

/** Whatever came of it, the way out stays. */
function thank(box, close, texts, { status, prize, coupon }) {
  const said = element('div', {})
  said.setAttribute('role', 'status')
  if (status === 'already-subscribed') said.append(element('p', {}, texts.alreadySubscribedMessage))
  else said.append(element('h2', {}, texts.successTitle), element('p', {}, texts.successMessage))
  if (prize) said.append(element('p', { fontWeight: 'bold' }, prize.label))
  if (coupon?.code) said.append(element('p', { fontFamily: 'monospace', fontSize: '20px' }, coupon.code))
  box.dataset.thanked = 'true'
  box.replaceChildren(...box.querySelectorAll('style'), said, close)
  // There is nothing left to turn down: the same way out, by its sign.
  close.setAttribute('aria-label', texts.closeText)
  close.textContent = '✕'
  Object.assign(close.style, { position: 'absolute', top: '12px', right: '12px', cursor: 'pointer' })
  box.style.position = 'relative'
  close.focus()
}
