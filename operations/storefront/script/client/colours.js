// Chooses text colours that are readable on their background. Loaded on demand.

/** Returns black or white, whichever has more contrast with a colour (by luminance, as WCAG defines it). */
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

/**
 * Whether the theme's text is light at this element. Then the background must be dark, even if it is a picture or
 * gradient.
 */
function isOnDark(host) {
  const { color } = getComputedStyle(host)
  const parts = color.match(/[\d.]+/g)?.map(Number) ?? []
  if (color.startsWith('rgb')) return isLight(parts)
  return color.startsWith('ok') && parts[0] > 0.6
}

/**
 * Text colour on the theme's own background. `usual` is the default colour, made for light backgrounds. On a dark
 * background the theme's text colour replaces it, mixed with `usual` if `isTinted`. A colour chosen by the merchant
 * stays.
 */
export function inkHere(host, colour, usual, isTinted) {
  if (colour.toLowerCase() !== usual || !isOnDark(host)) return colour
  return isTinted ? `color-mix(in srgb, currentColor 55%, ${usual})` : 'inherit'
}
