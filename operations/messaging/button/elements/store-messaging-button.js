// The chat button: opens a conversation with the store, or a choice of attendants.

import {
  Dialog,
  filled,
  h,
  isFor,
  Picture,
  useEffect,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'

export default {
  css: `
:host { display: contents; }
.chat { display: flex; flex-direction: column; gap: 8px; align-items: flex-end; max-width: 100%; pointer-events: none; }
.chat > *, .bubble { pointer-events: auto; }
.chat.bottom-left { align-items: flex-start; }
.button { display: inline-flex; align-items: center; justify-content: center; gap: 8px; border: 0; text-decoration: none; font-weight: 600; box-shadow: 0 2px 12px #0003; max-width: 100%; }
.button svg { flex: none; fill: currentColor; }
/* The bubble does not widen the button, which shares a row with others. */
.chat > [role=status] { align-self: stretch; contain: inline-size; display: flex; justify-content: right; }
.chat.bottom-left > [role=status] { justify-content: left; }
.bubble { position: relative; flex: none; width: max-content; margin: 0; padding-block: 10px; padding-inline: 14px 40px; max-width: min(280px, calc(100vw - 32px)); background: #fff; color: #111827; border-radius: 10px; box-shadow: 0 2px 12px #0003; overflow-wrap: anywhere; }
:host([data-waits]) .bubble { position: absolute; visibility: hidden; }
.bubble .close { inset-block-start: 4px; inset-inline-end: 4px; width: 28px; height: 28px; font-size: 16px; }
dialog { position: relative; inset: auto; margin: 0; padding: 12px; width: min(320px, calc(100vw - 32px)); background: #fff; color: #111827; border-radius: 12px; box-shadow: 0 4px 24px #0004; }
h2 { font-size: 16px; margin-block: 6px 8px; margin-inline: 6px 36px; }
ul { list-style: none; margin: 0; padding: 0; }
.attendant { display: flex; gap: 12px; align-items: center; padding: 8px 6px; border-radius: 8px; text-decoration: none; min-height: 48px; overflow-wrap: anywhere; }
.attendant:hover { background: #f3f4f6; }
.attendant img, .initial { flex: none; width: 40px; height: 40px; border-radius: 50%; object-fit: cover; }
.initial { display: grid; place-items: center; font-weight: 600; }
.attendant small { display: block; color: #4b5563; }
.note { margin: 0 6px 8px; font-size: 14px; }
`,
  texts: {
    en: { chat: 'Chat with us', choose: 'Who do you want to talk to?', close: 'Close' },
    'pt-BR': { chat: 'Converse com a gente', choose: 'Com quem você quer falar?', close: 'Fechar' },
    es: { chat: 'Chatea con nosotros', choose: '¿Con quién quieres hablar?', close: 'Cerrar' },
  },
  places(settings, { device, page }) {
    const { pageMode, pagePatterns, devices, position, offsetX, offsetY, mobileOffsetY } = settings
    if (!isFor({ pageMode, pagePatterns, devices }, { device, page })) return []
    const offset = { x: offsetX, y: device === 'mobile' ? mobileOffsetY : offsetY }
    return [{ spot: `corner-${position}`, offset }]
  },
  view: Chat,
}

function Chat({ data, t, tell, session, page, device, host, serverNow }) {
  const isOpen = useOpenHours(data, serverNow)
  const [isChoosing, setChoosing] = useState(false)
  const { pageMode, pagePatterns, devices, schedule, attendants, size, label, position } = data
  const isHere = isFor({ pageMode, pagePatterns, devices }, { device, page })
  const isShown = isHere && (isOpen || schedule.outside === 'show')
  const seen = useSeen(() => tell('impression', 'messaging-button'), [isShown])
  if (!isShown) return null
  const words = isOpen ? data.tooltip : (schedule.outsideMessage ?? data.tooltip)
  const props = {
    ref: seen,
    class: 'button',
    part: 'button',
    'aria-label': label ? undefined : t('chat'),
    style: {
      minWidth: `${size}px`,
      height: `${size}px`,
      padding: 0,
      paddingInline: label ? '14px 18px' : 0,
      borderRadius: `${size / 2}px`,
      background: data.backgroundColor,
      color: data.iconColor,
    },
  }
  const inside = [h(Icon, { size: Math.round(size / 2) }), label ? h('span', null, label) : null]
  const choose = () => tell('click', 'messaging-button')
  const toggle = () => {
    if (isChoosing) tell('close', 'messaging-button')
    setChoosing(!isChoosing)
  }
  return h(
    'div',
    { class: `chat ${position}`, style: host.placed ? undefined : { display: 'inline-flex' } },
    isChoosing
      ? h(
          Dialog,
          { label: t('choose'), closeText: t('close'), isBeside: true, onClose: toggle, part: 'choice' },
          h('h2', null, t('choose')),
          isOpen || !schedule.outsideMessage ? null : h('p', { class: 'note' }, schedule.outsideMessage),
          h(
            'ul',
            null,
            attendants.map((each) => h('li', null, h(Attendant, { ...each, data, page, choose }))),
          ),
        )
      : words &&
          h(Bubble, { key: words, words, session, tell, t, delay: isOpen ? data.tooltipDelaySeconds : 0 }),
    attendants.length > 0
      ? h(
          'button',
          {
            ...props,
            type: 'button',
            'aria-haspopup': 'dialog',
            'aria-expanded': isChoosing,
            onClick: toggle,
          },
          inside,
        )
      : h('a', { ...props, ...chatLink(data, data.phone, page), onClick: choose }, inside),
  )
}

const Icon = ({ size }) =>
  h(
    'svg',
    { viewBox: '0 0 24 24', width: size, height: size, 'aria-hidden': 'true' },
    h('path', {
      d: 'M12 2C6.5 2 2 6.1 2 11.2c0 2.6 1.2 5 3.1 6.6L4.4 22l4.5-2.2c1 .3 2 .4 3.1.4 5.5 0 10-4.1 10-9.1S17.5 2 12 2zM7.5 12.6a1.4 1.4 0 1 1 0-2.8 1.4 1.4 0 0 1 0 2.8zm4.5 0a1.4 1.4 0 1 1 0-2.8 1.4 1.4 0 0 1 0 2.8zm4.5 0a1.4 1.4 0 1 1 0-2.8 1.4 1.4 0 0 1 0 2.8z',
    }),
  )

/** The bubble appears after a delay. Once closed, it does not appear again during this visit. */
function Bubble({ words, session, tell, t, delay }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (session.read('closed.chat') !== null) return
    const timer = setTimeout(() => setShown(true), delay * 1000)
    return () => clearTimeout(timer)
  }, [])
  const close = () => {
    session.write('closed.chat', '1')
    tell('close', 'messaging-button')
    setShown(false)
  }
  return h(
    'div',
    { role: 'status' },
    isShown
      ? h(
          'p',
          { class: 'bubble', part: 'tooltip' },
          words,
          h('button', { type: 'button', class: 'close', 'aria-label': t('close'), onClick: close }, '✕'),
        )
      : null,
  )
}

function Attendant({ name, role, phone, avatarUrl, data, page, choose }) {
  const initial = { background: data.backgroundColor, color: data.iconColor }
  return h(
    'a',
    { class: 'attendant', part: 'attendant', ...chatLink(data, phone, page), onClick: choose },
    avatarUrl
      ? h(Picture, { src: avatarUrl })
      : h('span', { class: 'initial', 'aria-hidden': 'true', style: initial }, [...name][0]),
    h('span', null, name, role ? h('small', null, role) : null),
  )
}

function chatLink({ message, storeName }, phone, page) {
  const meta = (name) => document.querySelector(`meta[property="${name}"]`)?.content
  const text = filled(message, {
    storeName,
    pageTitle: document.title,
    pageUrl: location.href,
    productName: page === 'product' ? meta('og:title') : undefined,
  })
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,.!?])/g, '$1')
    .trim()
  const query = text ? `?text=${encodeURIComponent(text)}` : ''
  return { href: `https://wa.me/${phone.replace(/\D/g, '')}${query}`, target: '_blank', rel: 'noopener' }
}

/** Whether the store is open now, in its own time zone. */
function useOpenHours({ schedule, timezone }, serverNow) {
  const look = () => !schedule.isEnabled || isWithin(schedule.hours, timezone, serverNow())
  const [isOpen, setOpen] = useState(look)
  useEffect(() => {
    const timer = setInterval(() => setOpen(look()), 20_000)
    return () => clearInterval(timer)
  }, [])
  return isOpen
}

function isWithin(hours, timeZone, now) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  const parts = Object.fromEntries(
    format.formatToParts(new Date(now)).map(({ type, value }) => [type, value]),
  )
  const time = `${parts.hour}:${parts.minute}`
  const day = parts.weekday.toLowerCase().slice(0, 3)
  return hours.some((each) => each.day === day && each.start <= time && time < each.end)
}
