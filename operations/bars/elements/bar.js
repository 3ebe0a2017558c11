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

/** What is said anew is shown anew: a bar is closed with what it said. FNV-1a, which is enough to tell two texts apart. */
const stateOf = (said) =>
  [...JSON.stringify(said)]
    .reduce((hash, letter) => Math.imul(hash ^ letter.codePointAt(0), 0x01000193) >>> 0, 0x811c9dc5)
    .toString(36)

/** `name`, and what it has to say (`said`, as the merchant wrote it): what its being closed is remembered by. */
export function Bar({ name, said, data, keep, t, label, children }) {
  const state = stateOf(said)
  // Closed by who came before its words were remembered, too.
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
