// The roulette's wheel. The server has already drawn the prize; the wheel only turns to it.

import { inkOn } from '../../../storefront/script/client/colours.js'
import { h, useEffect } from '../../../storefront/script/client/elements.js'

const turnsMs = 4000

export function Wheel({ prizes, prizeId, label, onStop }) {
  const won = prizes.findIndex(({ id }) => id === prizeId)
  const angle = 360 / prizes.length
  useEffect(() => {
    if (prizeId === null) return
    const isStill = won < 0 || matchMedia('(prefers-reduced-motion: reduce)').matches
    const timer = setTimeout(onStop, isStill ? 0 : turnsMs + 600)
    return () => clearTimeout(timer)
  }, [prizeId])
  const turned = won < 0 ? 0 : 5 * 360 - (won + 0.5) * angle
  return h(
    'div',
    { class: 'wheel', part: 'wheel' },
    h(
      'svg',
      { viewBox: '-52 -52 104 104', role: 'img', 'aria-label': label },
      h(
        'g',
        { class: 'disc', style: { transform: `rotate(${turned}deg)`, transitionDuration: `${turnsMs}ms` } },
        h('circle', { r: 50, fill: '#fff', stroke: 'currentColor', 'stroke-width': 1.5 }),
        prizes.map((prize, at) => h(Sector, { key: prize.id, ...prize, from: at * angle, angle })),
      ),
      h('circle', { r: 6, fill: '#fff', stroke: '#111827' }),
      h('path', { d: 'M-5 -52h10l-5 10z', fill: '#111827', stroke: '#fff' }),
    ),
  )
}

/** The SVG coordinates of a point on a circle, in degrees clockwise from the top. */
const at = (degrees, radius) => {
  const turn = ((degrees - 90) * Math.PI) / 180
  return `${(radius * Math.cos(turn)).toFixed(3)} ${(radius * Math.sin(turn)).toFixed(3)}`
}

function Sector({ label, color, from, angle }) {
  const isLarge = angle > 180 ? 1 : 0
  const lines = splitLines(label)
  const longest = Math.max(...lines.map((line) => line.length))
  const size = Math.min(6, 32 / (0.56 * longest), (angle / 360) * 200 * (1 / lines.length))
  return h(
    'g',
    null,
    h('path', {
      d: `M0 0L${at(from, 48)}A48 48 0 ${isLarge} 1 ${at(from + angle, 48)}z`,
      fill: color,
      stroke: '#fff',
      'stroke-width': 0.5,
    }),
    h(
      'text',
      {
        transform: `rotate(${from + angle / 2 - 90})`,
        'text-anchor': 'end',
        'dominant-baseline': 'central',
        'font-size': size.toFixed(2),
        fill: inkOn(color),
      },
      lines.map((line, n) => h('tspan', { x: 45, y: (n - (lines.length - 1) / 2) * size * 1.15 }, line)),
    ),
  )
}

/** Splits a long label into two lines, at the space nearest to its middle. */
function splitLines(label) {
  const middle = label.length / 2
  const spaces = [...label.matchAll(/ /g)].map(({ index }) => index)
  if (label.length <= 14 || spaces.length === 0) return [label]
  const nearest = spaces.reduce((one, other) =>
    Math.abs(other - middle) < Math.abs(one - middle) ? other : one,
  )
  return [label.slice(0, nearest), label.slice(nearest + 1)]
}
