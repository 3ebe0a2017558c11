/** The contrast of WCAG 2.2, by known values and by properties of all colours. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeContrast, findShade } from '#runtime/values/contrast'

const channel = fc.integer({ min: 0, max: 255 })
const toHex = (...channels: number[]): string =>
  `#${channels.map((each) => each.toString(16).padStart(2, '0')).join('')}`
const opaque = fc.tuple(channel, channel, channel).map((all) => toHex(...all))

describe('the ratio', () => {
  // From WebAIM's and the W3C's own examples.
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 4],
    ['#0000ff', '#ffffff', 8.59],
    ['#00ff00', '#ffffff', 1.37],
    ['#ffff00', '#000000', 19.56],
    ['#595959', '#ffffff', 7],
    ['#2563eb', '#ffffff', 5.17],
  ])('%s on %s is %s', (front, ground, ratio) => {
    expect(computeContrast(front, ground)).toBeCloseTo(ratio, 1)
    expect(Math.abs(computeContrast(front, ground)! - ratio)).toBeLessThan(0.011)
  })

  test('is from 1 to 21, and symmetric', () => {
    fc.assert(
      fc.property(opaque, opaque, (one, other) => {
        const ratio = computeContrast(one, other)!
        expect(ratio).toBeGreaterThanOrEqual(1)
        expect(ratio).toBeLessThanOrEqual(21)
        expect(computeContrast(other, one)).toBeCloseTo(ratio, 9)
      }),
    )
  })

  test('black or white is readable on any colour, and their contrasts multiply to 21', () => {
    fc.assert(
      fc.property(opaque, (ground) => {
        const [black, white] = [computeContrast('#000000', ground)!, computeContrast('#ffffff', ground)!]
        expect(black * white).toBeCloseTo(21, 6)
        expect(Math.max(black, white)).toBeGreaterThan(4.5)
      }),
    )
  })

  test('knows the CSS forms that merchants write, and reports nothing for others', () => {
    expect(computeContrast('black', 'white')).toBe(21)
    expect(computeContrast('#000', '#FFF')).toBe(21)
    expect(computeContrast('rgb(0, 0, 0)', 'rgba(255 255 255 / 100%)')).toBe(21)
    for (const odd of ['', 'var(--x)', 'rebeccapurple', '#12', '#zzzzzz', 'rgb(0,0)']) {
      expect([odd, computeContrast(odd, '#ffffff'), computeContrast('#ffffff', odd)]).toEqual([
        odd,
        null,
        null,
      ])
    }
  })
})

describe('translucent colours', () => {
  test('a translucent text is judged as it is blended', () => {
    expect(computeContrast('#00000080', '#ffffff')).toBeCloseTo(computeContrast('#7f7f7f', '#ffffff')!, 1)
    expect(computeContrast('#00000000', '#ffffff')).toBe(1)
  })
  test('a translucent background is judged at its worst; a transparent one is not judged', () => {
    expect(computeContrast('#ffffff', '#00000080')).toBeCloseTo(computeContrast('#ffffff', '#7f7f7f')!, 1)
    expect(computeContrast('#ffffff', '#00000000')).toBeNull()
    expect(computeContrast('#ffffff', 'transparent')).toBeNull()
  })
  test('translucency never increases the contrast', () => {
    fc.assert(
      fc.property(opaque, opaque, fc.integer({ min: 1, max: 254 }), (front, ground, alpha) => {
        const through = `${ground}${alpha.toString(16).padStart(2, '0')}`
        const [whole, part] = [computeContrast(front, ground)!, computeContrast(front, through)!]
        expect(part).toBeLessThanOrEqual(whole + 1e-9)
      }),
    )
  })
})

test('the suggested shade has enough contrast, and exists on every colour', () => {
  fc.assert(
    fc.property(opaque, opaque, fc.constantFrom(3, 4.5), (front, ground, least) => {
      const shade = findShade(front, ground, least)
      expect(shade).toMatch(/^#[0-9a-f]{6}$/)
      expect(computeContrast(shade!, ground)).toBeGreaterThanOrEqual(least)
    }),
  )
})
