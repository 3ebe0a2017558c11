/** The ratio of WCAG 2.2, by values that are known and by what is true of all colours. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contrastOf, shadeFor } from '#runtime/values/contrast'

const channel = fc.integer({ min: 0, max: 255 })
const hexOf = (...channels: number[]): string =>
  `#${channels.map((each) => each.toString(16).padStart(2, '0')).join('')}`
const opaque = fc.tuple(channel, channel, channel).map((all) => hexOf(...all))

describe('the ratio', () => {
  // As WebAIM's and the W3C's own examples have them.
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
  ])('of %s on %s is %s', (front, ground, ratio) => {
    expect(contrastOf(front, ground)).toBeCloseTo(ratio, 1)
    expect(Math.abs(contrastOf(front, ground)! - ratio)).toBeLessThan(0.011)
  })

  test('is from 1 to 21, and the same both ways', () => {
    fc.assert(
      fc.property(opaque, opaque, (one, other) => {
        const ratio = contrastOf(one, other)!
        expect(ratio).toBeGreaterThanOrEqual(1)
        expect(ratio).toBeLessThanOrEqual(21)
        expect(contrastOf(other, one)).toBeCloseTo(ratio, 9)
      }),
    )
  })

  test('of black and of white on any colour: one is read, the product is 21', () => {
    fc.assert(
      fc.property(opaque, (ground) => {
        const [black, white] = [contrastOf('#000000', ground)!, contrastOf('#ffffff', ground)!]
        expect(black * white).toBeCloseTo(21, 6)
        expect(Math.max(black, white)).toBeGreaterThan(4.5)
      }),
    )
  })

  test('knows the forms of CSS that merchants write, and says nothing of others', () => {
    expect(contrastOf('black', 'white')).toBe(21)
    expect(contrastOf('#000', '#FFF')).toBe(21)
    expect(contrastOf('rgb(0, 0, 0)', 'rgba(255 255 255 / 100%)')).toBe(21)
    for (const odd of ['', 'var(--x)', 'rebeccapurple', '#12', '#zzzzzz', 'rgb(0,0)']) {
      expect([odd, contrastOf(odd, '#ffffff'), contrastOf('#ffffff', odd)]).toEqual([odd, null, null])
    }
  })
})

describe('what lets others through', () => {
  test('text that does is read as it is mixed', () => {
    expect(contrastOf('#00000080', '#ffffff')).toBeCloseTo(contrastOf('#7f7f7f', '#ffffff')!, 1)
    expect(contrastOf('#00000000', '#ffffff')).toBe(1)
  })
  test('a ground that does is judged at its worst; one that is not there, not at all', () => {
    expect(contrastOf('#ffffff', '#00000080')).toBeCloseTo(contrastOf('#ffffff', '#7f7f7f')!, 1)
    expect(contrastOf('#ffffff', '#00000000')).toBeNull()
    expect(contrastOf('#ffffff', 'transparent')).toBeNull()
  })
  test('never makes it more', () => {
    fc.assert(
      fc.property(opaque, opaque, fc.integer({ min: 1, max: 254 }), (front, ground, alpha) => {
        const through = `${ground}${alpha.toString(16).padStart(2, '0')}`
        const [whole, part] = [contrastOf(front, ground)!, contrastOf(front, through)!]
        expect(part).toBeLessThanOrEqual(whole + 1e-9)
      }),
    )
  })
})

test('the shade that is offered is enough, and there is one on every colour', () => {
  fc.assert(
    fc.property(opaque, opaque, fc.constantFrom(3, 4.5), (front, ground, least) => {
      const shade = shadeFor(front, ground, least)
      expect(shade).toMatch(/^#[0-9a-f]{6}$/)
      expect(contrastOf(shade!, ground)).toBeGreaterThanOrEqual(least)
    }),
  )
})
