import { describe, expect, test } from 'vitest'
import { parseImage } from '#operations/capture/popup/image-bytes'
import { findPrize, sumWeights } from '#operations/capture/subscribers/draw'

const prizes = [50, 30, 15, 5].map((probability, i) => ({ place: i + 1, probability }))

describe('the draw', () => {
  test.each([
    [0, 1],
    [4999, 1],
    [5000, 2],
    [7999, 2],
    [8000, 3],
    [9499, 3],
    [9500, 4],
    [9999, 4],
  ])('with 50/30/15/5, %i is the prize %i', (r, place) => {
    expect(sumWeights(prizes)).toBe(10_000)
    expect(findPrize(prizes, r)?.place).toBe(place)
  })

  test('a prize out of stock has no weight', () => {
    const left = prizes.filter(({ place }) => place !== 2)
    expect(sumWeights(left)).toBe(7000)
    expect(findPrize(left, 5000)?.place).toBe(3)
    expect(findPrize(left, 6999)?.place).toBe(4)
    expect(findPrize([], 0)).toBeNull()
  })

  test('hundredths of a per cent are exact', () => {
    const thirds = [33.33, 33.33, 33.34].map((probability) => ({ probability }))
    expect(sumWeights(thirds)).toBe(10_000)
    expect(sumWeights([{ probability: 0.29 }, { probability: 0.57 }])).toBe(86)
  })
})

describe('image detection by bytes', () => {
  const png = (width: number, height: number): Buffer => {
    const bytes = Buffer.alloc(57)
    bytes.write('\x89PNG\r\n\x1a\n', 0, 'latin1')
    bytes.writeUInt32BE(13, 8)
    bytes.write('IHDR', 12, 'latin1')
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    bytes.write('IEND', 49, 'latin1')
    return bytes
  }

  test('PNG, GIF, JPEG and the three kinds of WebP are detected', () => {
    expect(parseImage(png(640, 480))).toEqual({
      contentType: 'image/png',
      extension: 'png',
      width: 640,
      height: 480,
    })
    const gif = Buffer.from('47494638396140010a00800000ffffff0000003b', 'hex')
    expect(parseImage(gif)).toMatchObject({ contentType: 'image/gif', width: 320, height: 10 })
    const jpeg = Buffer.from(
      'ffd8ffe000104a46494600010100000100010000ffc0001108012c0190030122000211010311',
      'hex',
    )
    expect(parseImage(jpeg)).toMatchObject({ contentType: 'image/jpeg', width: 400, height: 300 })
    const webp = (chunk: string): Buffer => Buffer.concat([Buffer.from(chunk, 'hex'), Buffer.alloc(20)])
    const riff = '524946462000000057454250'
    expect(parseImage(webp(`${riff}565038580a00000000000000ff0300570200`))).toMatchObject({
      contentType: 'image/webp',
      width: 1024,
      height: 600,
    })
    expect(parseImage(webp(`${riff}5650384c0a0000002fffc05702`))).toMatchObject({ width: 256 })
    expect(parseImage(webp(`${riff}565038200a0000000000009d012a40014002`))).toMatchObject({ width: 320 })
  })

  test.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'.padEnd(60))],
    ['a truncated PNG', png(640, 480).subarray(0, 30)],
    ['no pixels', png(0, 480)],
    ['a JPEG without a frame', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('%s is none', (_what, bytes) => {
    expect(parseImage(bytes)).toBeNull()
  })
})
