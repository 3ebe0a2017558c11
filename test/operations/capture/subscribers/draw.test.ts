import { describe, expect, test } from 'vitest'
import { imageOf } from '#operations/capture/popup/image-bytes'
import { prizeAt, weightOfAll } from '#operations/capture/subscribers/draw'

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
  ])('of 50/30/15/5, %i is the prize %i', (r, place) => {
    expect(weightOfAll(prizes)).toBe(10_000)
    expect(prizeAt(prizes, r)?.place).toBe(place)
  })

  test('what is out of stock has no weight', () => {
    const left = prizes.filter(({ place }) => place !== 2)
    expect(weightOfAll(left)).toBe(7000)
    expect(prizeAt(left, 5000)?.place).toBe(3)
    expect(prizeAt(left, 6999)?.place).toBe(4)
    expect(prizeAt([], 0)).toBeNull()
  })

  test('hundredths are counted whole', () => {
    const thirds = [33.33, 33.33, 33.34].map((probability) => ({ probability }))
    expect(weightOfAll(thirds)).toBe(10_000)
    expect(weightOfAll([{ probability: 0.29 }, { probability: 0.57 }])).toBe(86)
  })
})

describe('an image is told by its bytes', () => {
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

  test('PNG, GIF, JPEG and the three kinds of WebP', () => {
    expect(imageOf(png(640, 480))).toEqual({
      contentType: 'image/png',
      extension: 'png',
      width: 640,
      height: 480,
    })
    const gif = Buffer.from('47494638396140010a00800000ffffff0000003b', 'hex')
    expect(imageOf(gif)).toMatchObject({ contentType: 'image/gif', width: 320, height: 10 })
    const jpeg = Buffer.from(
      'ffd8ffe000104a46494600010100000100010000ffc0001108012c0190030122000211010311',
      'hex',
    )
    expect(imageOf(jpeg)).toMatchObject({ contentType: 'image/jpeg', width: 400, height: 300 })
    const webp = (chunk: string): Buffer => Buffer.concat([Buffer.from(chunk, 'hex'), Buffer.alloc(20)])
    const riff = '524946462000000057454250'
    expect(imageOf(webp(`${riff}565038580a00000000000000ff0300570200`))).toMatchObject({
      contentType: 'image/webp',
      width: 1024,
      height: 600,
    })
    expect(imageOf(webp(`${riff}5650384c0a0000002fffc05702`))).toMatchObject({ width: 256 })
    expect(imageOf(webp(`${riff}565038200a0000000000009d012a40014002`))).toMatchObject({ width: 320 })
  })

  test.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'.padEnd(60))],
    ['a PNG that is cut off', png(640, 480).subarray(0, 30)],
    ['no pixels', png(0, 480)],
    ['a JPEG without a frame', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('%s is none', (_what, bytes) => {
    expect(imageOf(bytes)).toBeNull()
  })
})
