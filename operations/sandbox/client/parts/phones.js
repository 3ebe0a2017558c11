/** Shows the customers' phones, each with its chat with the store. */
import { button, byId, element, isWebAddress, linked } from './dom.js'

const shownPhones = 6
/** The shown phones by number. Their elements are kept while chats are redrawn, because somebody may be typing. */
const phones = new Map()
let shownStore = ''

/** Shows the newest phones. `write({ phone, type, text, refersTo })` sends a customer's message to the store. */
export function showPhones(store, messages, write) {
  if (store !== shownStore) phones.clear()
  shownStore = store
  const chats = new Map()
  for (const message of messages) chats.set(message.phone, [message, ...(chats.get(message.phone) ?? [])])
  const newest = [...chats.keys()].slice(0, shownPhones)
  for (const number of newest) {
    if (!phones.has(number)) phones.set(number, createPhone(number, write))
    showChat(phones.get(number), chats.get(number), write)
  }
  for (const number of phones.keys()) if (!newest.includes(number)) phones.delete(number)
  const shells = newest.map((number) => phones.get(number).shell)
  const container = byId('phones')
  // Reordered only if the order changed: moving an element loses the focus.
  if (
    shells.length !== container.children.length ||
    shells.some((shell, at) => container.children[at] !== shell)
  ) {
    container.replaceChildren(...shells)
  }
  byId('phones-none').hidden = newest.length > 0
}

function createPhone(number, write) {
  const name = element('span', { class: 'name' }, '')
  const chat = element('ol', { class: 'chat', tabindex: '0', 'aria-label': `Chat of ${number}` })
  const box = element('input', {
    'aria-label': `Write from ${number}`,
    maxlength: '4096',
    placeholder: 'Write to the store',
  })
  const form = element(
    'form',
    {
      class: 'write',
      async onsubmit(event) {
        event.preventDefault()
        if (box.value.trim() === '') return
        const text = box.value
        box.value = ''
        await write({ phone: number, type: 'text', text })
      },
    },
    box,
    element('button', { type: 'submit', 'aria-label': `Send from ${number}` }, 'Send'),
  )
  const shell = element(
    'article',
    { class: 'phone', 'aria-label': `Phone ${number}` },
    element('p', { class: 'who' }, number, name),
    chat,
    form,
  )
  return { shell, chat, name, shown: '' }
}

function showChat(phone, messages, write) {
  const text = JSON.stringify(messages)
  if (text === phone.shown) return
  phone.shown = text
  phone.chat.replaceChildren(...messages.map((message) => renderBubble(message, write)))
  phone.chat.scrollTop = phone.chat.scrollHeight
}

function renderBubble(message, write) {
  const { isFromStore, header, media, text, footer, status, at, kind } = message
  const hasContent = [header, media, text].some(Boolean)
  return element(
    'li',
    { class: isFromStore ? 'bubble from-store' : 'bubble' },
    element('span', { class: 'unseen' }, isFromStore ? 'The store: ' : 'The customer: '),
    media ? renderMedia(media) : null,
    header ? element('p', { class: 'bubble-header' }, header) : null,
    element('p', {}, ...(hasContent ? linked(text ?? '') : [`(${kind})`])),
    footer ? element('p', { class: 'bubble-footer' }, footer) : null,
    element(
      'p',
      { class: 'bubble-foot' },
      element(
        'time',
        { datetime: at },
        new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }),
      ),
      ...(status ? [' · ', element('span', {}, status)] : []),
    ),
    ...message.buttons.map((each) => renderButton(each, message, write)),
  )
}

/** Shows pictures of this server. Pictures of other hosts become links, because the page loads nothing from them. */
function renderMedia({ type, url, fileName }) {
  const name = fileName ?? type
  if (
    type === 'image' &&
    URL.canParse(url, location.href) &&
    new URL(url, location.href).origin === location.origin
  )
    return element('img', { src: url, alt: name, loading: 'lazy' })
  return isWebAddress(url) ? element('a', { href: url, rel: 'noreferrer' }, name) : element('span', {}, name)
}

function renderButton({ type, text, url }, message, write) {
  if (type === 'url' && url && isWebAddress(url))
    return element('a', { class: 'bubble-button', href: url, rel: 'noreferrer' }, text ?? url)
  if (type !== 'quick-reply') return element('span', { class: 'bubble-button' }, text ?? type)
  return button(
    text ?? '',
    () => write({ phone: message.phone, type: 'button', text, refersTo: message.providerMessageId }),
    { class: 'bubble-button' },
  )
}
