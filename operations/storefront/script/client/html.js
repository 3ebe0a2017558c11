// The merchant's own HTML under any Content-Security-Policy. Loaded on demand.

import { h, hideBroken, trusted, useEffect, useRef } from './elements.js'

/**
 * HTML that the server has sanitized. It is parsed, never assigned, to satisfy Trusted Types; its styles are set one by
 * one, which no policy for inline styles forbids.
 */
export function Html({ html, ...props }) {
  const box = useRef(null)
  useEffect(() => {
    const text = html.replace(/(<[a-z][^<>]*?) style="/gi, '$1 data-style="')
    let body
    try {
      body = parsed(text)
    } catch {
      // A Trusted Types policy forbids parsing HTML: shows the text alone.
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

/** The body of a parsed HTML text, whose scripts never run. */
export const parsed = (html) => new DOMParser().parseFromString(trusted('createHTML', html), 'text/html').body
