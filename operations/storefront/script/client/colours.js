// Colours that are read on others. Fetched where one is reckoned.

/** Black or white, whichever is read better on a colour (by its luminance, WCAG). */
export function inkOn(colour) {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
  return isLight(parts) ? '#000000' : '#ffffff'
}

function isLight(parts) {
  const [r, g, b] = parts.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179
}

/** Whether the theme writes in a light colour here: what it writes on is dark then, whatever that is made of. */
function isOnDark(host) {
  const { color } = getComputedStyle(host)
  const parts = color.match(/[\d.]+/g)?.map(Number) ?? []
  if (color.startsWith('rgb')) return isLight(parts)
  return color.startsWith('ok') && parts[0] > 0.6
}

/**
 * A colour of text that stands on the theme's own ground. `usual`: what it is where nobody chose one, which was made for
 * light grounds; on a dark one it gives way to the theme's, or keeps a tint of its own (`isTinted`). A chosen one stays.
 */
export function inkHere(host, colour, usual, isTinted) {
  if (colour.toLowerCase() !== usual || !isOnDark(host)) return colour
  return isTinted ? `color-mix(in srgb, currentColor 55%, ${usual})` : 'inherit'
}
