// Base of all banners: a strip at an edge of the page with a close button.

import { h, isFor, useState } from '../../storefront/script/client/elements.js'

export const barTexts = {
  en: { close: 'Close' },
  'pt-BR': { close: 'Fechar' },
  es: { close: 'Cerrar' },
}

export const barCss = `
:host { display: block; }
.bar { position: relative; padding: 10px 44px; text-align: center; min-height: 44px; }
.bar a { text-decoration: underline; }
.bar .close { inset-block-start: 6px; }
`

export const barPlaces = ({ position = 'top', isSticky = true, ...settings }, page) =>
  isFor(settings, page) ? [{ spot: `edge-${position}${isSticky ? '-sticky' : ''}` }] : []

/**
 * Hash of a banner's content. It is stored when the shopper closes the banner, so that a banner with new content reappears.
 * FNV-1a is enough to distinguish contents.
 */
const hashContent = (content) =>
  [...JSON.stringify(content)]
    .reduce((hash, letter) => Math.imul(hash ^ letter.codePointAt(0), 0x01000193) >>> 0, 0x811c9dc5)
    .toString(36)

/** A closed banner is remembered by its `name` and its `content` as the merchant wrote it. */
export function Bar({ name, content, data, keep, t, label, children }) {
  const state = hashContent(content)
  // Earlier versions stored '1' instead of a hash.
  const wasClosed = [state, '1'].includes(keep.read(`closed.${name}`))
  const [closed, setClosed] = useState(wasClosed ? state : null)
  if (data.isClosable && closed === state) return null
  const close = () => {
    keep.write(`closed.${name}`, state)
    setClosed(state)
  }
  const style = { background: data.backgroundColor, color: data.textColor }
  return h(
    'div',
    { class: 'bar', part: 'bar', role: 'region', 'aria-label': label, style },
    children,
    data.isClosable
      ? h(
          'button',
          { type: 'button', class: 'close', part: 'close', 'aria-label': t('close'), onClick: close },
          '✕',
        )
      : null,
  )
}
