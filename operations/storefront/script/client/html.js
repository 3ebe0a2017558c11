// The merchant's own HTML, under whatever policy the shop has. Fetched where there is some.

import { h, hideBroken, trusted, useEffect, useRef } from './elements.js'

/**
 * HTML of the merchant's, which the server has cleaned: parsed, never assigned, so that Trusted Types have no objection;
 * its styles are set one by one, which no policy for inline styles forbids.
 */
export function Html({ html, ...props }) {
  const box = useRef(null)
  useEffect(() => {
    const text = html.replace(/(<[a-z][^<>]*?) style="/gi, '$1 data-style="')
    let body
    try {
      body = parsed(text)
    } catch {
      // A policy of the shop's lets nobody read HTML: its words are shown all the same.
      box.current.textContent = html.replace(/<[^>]*>/g, ' ')
      return
    }
    for (const each of body.querySelectorAll('[data-style]')) {
      each.style.cssText = each.dataset.style
      delete each.dataset.style
    }
    box.current.replaceChildren(...body.childNodes)
    for (const each of box.current.querySelectorAll('img')) each.addEventListener('error', hideBroken)
  }, [html])
  return h('div', { ...props, ref: box })
}

/** The body of a text's HTML, whose scripts never run. */
export const parsed = (html) => new DOMParser().parseFromString(trusted('createHTML', html), 'text/html').body
