// Shows the merchant's own HTML, whatever Content-Security-Policy the shop has. Loaded on demand.

import { h, hideBroken, trusted, useEffect, useRef } from './elements.js'

/**
 * Shows HTML that the server has sanitized. `style` attributes are set by script, because a policy may forbid inline
 * styles. For Trusted Types the text is parsed with `DOMParser` instead of being assigned to `innerHTML`.
 */
export function Html({ html, ...props }) {
  const box = useRef(null)
  useEffect(() => {
    const text = html.replace(/(<[a-z][^<>]*?) style="/gi, '$1 data-style="')
    let body
    try {
      body = parsed(text)
    } catch {
      // The shop's Trusted Types policy forbids parsing HTML, so only the text is shown.
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

/** Parses HTML and returns its body. Scripts in it never run. */
export const parsed = (html) => new DOMParser().parseFromString(trusted('createHTML', html), 'text/html').body
