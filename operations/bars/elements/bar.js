// What the bars have in common: the strip at an edge of the page, and its way out.

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

/** `name`: what its being closed is remembered by. */
export function Bar({ name, data, keep, t, label, children }) {
  const [isClosed, setClosed] = useState(data.isClosable && keep.read(`closed.${name}`) !== null)
  if (isClosed) return null
  const close = () => {
    keep.write(`closed.${name}`, '1')
    setClosed(true)
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
