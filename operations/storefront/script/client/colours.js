// Readable text colours. Loaded on demand.

/** Black or white, whichever has more contrast with a colour (by luminance, WCAG). */
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

/** Whether the theme's text is light here: then its background is dark, whatever it consists of. */
function isOnDark(host) {
  const { color } = getComputedStyle(host)
  const parts = color.match(/[\d.]+/g)?.map(Number) ?? []
  if (color.startsWith('rgb')) return isLight(parts)
  return color.startsWith('ok') && parts[0] > 0.6
}

/**
 * Text colour on the theme's own background. `usual`: the default, made for light backgrounds; on a dark one it is
 * replaced by the theme's colour, or keeps a tint (`isTinted`). A colour chosen by the merchant stays.
 */
export function inkHere(host, colour, usual, isTinted) {
  if (colour.toLowerCase() !== usual || !isOnDark(host)) return colour
  return isTinted ? `color-mix(in srgb, currentColor 55%, ${usual})` : 'inherit'
}
