/** DOM helpers. Texts are never parsed as HTML, because merchants and customers wrote them. */
export const byId = (id) => document.getElementById(id)

export function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, '')
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value)
  }
  made.append(...children.filter((child) => child !== null))
  return made
}

export const button = (text, onclick, attributes = {}) =>
  element('button', { type: 'button', onclick, ...attributes }, text)
export const quiet = (text) => element('div', { class: 'quiet' }, text)
export const time = (instant) => new Date(instant).toLocaleString()

/** Fills a list, or shows `none` if it is empty. */
export function fill(id, items, none) {
  byId(id).replaceChildren(...(items.length > 0 ? items : [element('li', {}, none)]))
}

/** Whether the address is http or https. Others are not linked, because a `javascript:` address would run a script. */
export const isWebAddress = (address) => /^https?:\/\//i.test(address)

/** Splits a text into nodes in which URLs are links. */
export function linked(text) {
  const parts = text.split(/(https?:\/\/[^\s<>"]+)/)
  return parts.map((part, at) =>
    at % 2 === 0 ? part : element('a', { href: part, rel: 'noreferrer' }, part),
  )
}
