// Icons that a merchant chooses by name, drawn in the surrounding text's colour.

import { h } from './elements.js'

/** SVG paths by icon name, drawn as lines in a box of 24 by 24. */
const lines = {
  truck: 'M2 6h12v10H2zM14 9h4l4 4v3h-8M6 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  leaf: 'M4 20C4 10 10 4 20 4c0 10-6 16-14 14M4 20c3-5 6-7 10-9',
  lock: 'M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4M12 15v2',
  star: 'M12 3l2.8 5.7 6.2.9-4.5 4.4 1.1 6.2-5.6-3-5.6 3 1.1-6.2L3 9.6l6.2-.9z',
  heart: 'M12 20S4 15 4 9a4 4 0 0 1 8-1.5A4 4 0 0 1 20 9c0 6-8 11-8 11z',
  return: 'M9 5L4 10l5 5M4 10h10a6 6 0 0 1 0 12h-3',
  card: 'M3 5h18v14H3zM3 10h18M7 15h4',
  gift: 'M3 9h18v4H3zM5 13v8h14v-8M12 9v12M12 9C9 9 7 8 7 6s4-2 5 3c1-5 5-5 5-3s-2 3-5 3z',
  shield: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4',
  check: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12l3 3 5-6',
  medal: 'M12 9a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM9 10L6 3h4l2 5 2-5h4l-3 7',
  tools: 'M14 7a4 4 0 0 1 5-4l-2 3 1 2 3 0a4 4 0 0 1-5 4l-8 8-3-3 8-8a4 4 0 0 1 0-2z',
  ruler: 'M3 8h18v8H3zM7 8v3M11 8v4M15 8v3M19 8v3',
  play: 'M8 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  muted: 'M4 9h4l5-4v14l-5-4H4zM17 9l5 6M22 9l-5 6',
  sound: 'M4 9h4l5-4v14l-5-4H4zM17 8a5 5 0 0 1 0 8',
  next: 'M9 5l7 7-7 7',
  previous: 'M15 5l-7 7 7 7',
  cart: 'M3 4h3l2.5 11h9L20 7H7M9 20h.01M17 20h.01',
  chat: 'M4 5h16v11H10l-5 4v-4H4z',
  phone: 'M6 3h4l2 5-2.5 1.5a11 11 0 0 0 5 5L16 12l5 2v4c0 1.5-1 3-3 3C10 21 3 14 3 6c0-2 1.5-3 3-3z',
  tag: 'M3 4v8l9 9 8-8-9-9zM7.5 8h.01',
  home: 'M4 11l8-7 8 7M6 10v10h12V10M10 20v-6h4v6',
  'arrow-up': 'M12 20V5M5 12l7-7 7 7',
}

/** An icon. It is hidden from screen readers, because the text next to it says the same. */
export const Icon = ({ name, size = 24 }) =>
  h(
    'svg',
    {
      viewBox: '0 0 24 24',
      width: size,
      height: size,
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.8,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
      'aria-hidden': 'true',
      focusable: 'false',
      part: 'icon',
    },
    h('path', { d: lines[name] }),
  )

export const isIcon = (name) => Object.hasOwn(lines, name)
