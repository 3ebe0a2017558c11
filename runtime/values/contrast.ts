/** Computes the contrast of two colours as WCAG 2.2 defines it ("contrast ratio" and "relative luminance"). */

/** Red, green and blue from 0 to 255; alpha from 0 to 1. */
type Colour = readonly [red: number, green: number, blue: number, alpha: number]

const names: Readonly<Record<string, string>> = {
  black: '#000000',
  white: '#ffffff',
  transparent: '#00000000',
}
const hex = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/
const rgb = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+(\d+(?:\.\d+)?|\.\d+)(%)?)?\s*\)$/

/** Parses a colour; null if its form is unknown, so that its contrast is not checked. */
function parseColour(text: string): Colour | null {
  const lower = text.trim().toLowerCase()
  const known = names[lower] ?? lower
  if (hex.test(known)) {
    const digits = known.length < 6 ? known.slice(1).replace(/./g, '$&$&') : known.slice(1)
    const [red, green, blue, alpha = 255] = digits.match(/../g)!.map((each) => Number.parseInt(each, 16))
    return [red!, green!, blue!, alpha / 255]
  }
  const found = rgb.exec(known)
  if (!found) return null
  const [red, green, blue] = found.slice(1, 4).map((each) => Math.min(Number(each), 255))
  const alpha = found[4] === undefined ? 1 : Number(found[4]) / (found[5] ? 100 : 1)
  return [red!, green!, blue!, Math.min(alpha, 1)]
}

const blend = ([red, green, blue, alpha]: Colour, under: Colour): Colour => {
  const mix = (over: number, below: number): number => over * alpha + below * (1 - alpha)
  return [mix(red, under[0]), mix(green, under[1]), mix(blue, under[2]), 1]
}

function luminance([red, green, blue]: Colour): number {
  const [r, g, b] = [red, green, blue].map((each) => {
    const share = each / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

/** The ratio of two luminances; below 1 if the front is darker than the background. */
const computeRatio = (front: Colour, ground: Colour): number =>
  (luminance(front) + 0.05) / (luminance(ground) + 0.05)
const toContrast = (ratio: number): number => Math.max(ratio, 1 / ratio)

const white: Colour = [255, 255, 255, 1]
const black: Colour = [0, 0, 0, 1]

/**
 * Computes the lowest possible contrast, from 1 to 21. The page behind a translucent background is unknown and may have
 * any brightness. Null if the background is fully transparent, or the form of a colour is unknown.
 */
export function computeContrast(front: string, ground: string): number | null {
  const [over, under] = [parseColour(front), parseColour(ground)]
  if (!over || !under || under[3] === 0) return null
  const [onWhite, onBlack] = [white, black].map((page) => {
    const ground = blend(under, page)
    return computeRatio(blend(over, ground), ground)
  }) as [number, number]
  // The front is lighter than the background on one page and darker on the other: on some page in between they are
  // equal.
  if (onWhite < 1 !== onBlack < 1) return 1
  return Math.min(toContrast(onWhite), toContrast(onBlack))
}

/**
 * Finds the nearest shade of a colour with enough contrast to the background. Null if no shade has it, which can happen
 * if the page shows through the background.
 */
export function findShade(front: string, ground: string, least: number): string | null {
  const colour = parseColour(front)
  if (!colour) return null
  for (let step = 1; step <= 50; step += 1) {
    for (const end of [black, white]) {
      const shade = `#${blend([end[0], end[1], end[2], step / 50], colour)
        .slice(0, 3)
        .map((each) => Math.round(each).toString(16).padStart(2, '0'))
        .join('')}`
      if ((computeContrast(shade, ground) ?? 0) >= least) return shade
    }
  }
  return null
}
