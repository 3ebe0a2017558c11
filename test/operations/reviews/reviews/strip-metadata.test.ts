/** Pictures of reviews are public: their location metadata must not leave the shopper's device. */
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop } from '#test/support/demo-shop'

const { app, url } = await servedApp()
const module = new URL('../../../../operations/reviews/reviews/elements/strip-metadata.js', import.meta.url)
const { splitParts } = (await import(module.href)) as {
  splitParts(bytes: Uint8Array): Uint8Array[] | null
}

const bare = (bytes: Uint8Array): Buffer | null => {
  const parts = splitParts(bytes)
  return parts && Buffer.concat(parts)
}

const secret = 'GPS -23.5505 -46.6333'
const segment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255), content])
/** A TIFF with one directory that has an orientation, and a text after it. */
const tiff = (orientation: number, isLittle: boolean): Buffer => {
  const head = Buffer.from(isLittle ? '49492a0008000000' : '4d4d002a00000008', 'hex')
  const directory = Buffer.alloc(2 + 2 * 12 + 4)
  const put = (value: number, at: number): number =>
    isLittle ? directory.writeUInt16LE(value, at) : directory.writeUInt16BE(value, at)
  const putLong = (value: number, at: number): number =>
    isLittle ? directory.writeUInt32LE(value, at) : directory.writeUInt32BE(value, at)
  put(2, 0)
  put(0x10f, 2)
  put(2, 4)
  putLong(secret.length, 6)
  putLong(head.length + directory.length, 10)
  put(0x112, 14)
  put(3, 16)
  putLong(1, 18)
  put(orientation, 22)
  return Buffer.concat([head, directory, Buffer.from(secret)])
}
const exif = (orientation: number, isLittle = true): Buffer =>
  segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(orientation, isLittle)]))
const quantisation = segment(0xdb, Buffer.from('tables'))
const profile = segment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01colours'))
const scan = Buffer.concat([segment(0xda, Buffer.from('how')), Buffer.of(1, 0xff, 0, 0xff, 0xd0, 2)])
const start = Buffer.of(0xff, 0xd8)
const end = Buffer.of(0xff, 0xd9)

test.each([true, false])('a JPEG keeps its image and orientation only (little endian: %s)', (isLittle) => {
  const whole = [
    start,
    segment(0xe0, Buffer.from('JFIF\0')),
    exif(6, isLittle),
    segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${secret}`)),
    segment(0xed, Buffer.from(secret)),
    segment(0xfe, Buffer.from(secret)),
    segment(0xe2, Buffer.from(`MPF\0${secret}`)),
    profile,
    Buffer.of(0xff),
    quantisation,
    scan,
    segment(0xc4, Buffer.from('more')),
    scan,
    end,
    Buffer.from(`a film of the moment ${secret}`),
  ]
  const left = bare(Buffer.concat(whole))!
  expect(left.toString('latin1')).not.toContain(secret)
  const upright = Buffer.from('ffe100224578696600004d4d002a0000000800010112000300000001000600000000', 'hex')
  expect(left.toString('hex')).toBe(
    Buffer.concat([
      start,
      upright,
      Buffer.of(0, 0),
      segment(0xe0, Buffer.from('JFIF\0')),
      profile,
      quantisation,
      scan,
      segment(0xc4, Buffer.from('more')),
      scan,
      end,
    ]).toString('hex'),
  )
  expect(bare(left)).toEqual(left)
})

test('an upright JPEG gets no orientation; a file that is not a picture is unchanged', () => {
  const whole = Buffer.concat([start, exif(1), quantisation, scan, end])
  expect(bare(whole)).toEqual(Buffer.concat([start, quantisation, scan, end]))
  expect(bare(Buffer.concat([start, exif(1), quantisation]))).toBeNull()
  expect(bare(Buffer.from('<svg>'))).toBeNull()
})

test('a JPEG that is truncated or has bytes between segments is shown without its metadata', () => {
  const broken = Buffer.concat([start, exif(1), quantisation, scan])
  expect(bare(broken)).toEqual(Buffer.concat([start, quantisation, scan]))
  expect(bare(broken.subarray(0, -3))).toEqual(Buffer.concat([start, quantisation, scan]).subarray(0, -3))
  const between = Buffer.of(0, 0, 0xff, 0, 0xff, 1, 0xff, 0xd0)
  expect(bare(Buffer.concat([start, exif(1), between, quantisation, scan, end]))).toEqual(
    Buffer.concat([start, quantisation, scan, end]),
  )
})

function chunk(kind: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind), content])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

test('a PNG loses its text chunks', () => {
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const [first, last] = [chunk('IHDR', Buffer.alloc(13)), chunk('IEND', Buffer.alloc(0))]
  const metadata = ['eXIf', 'tEXt', 'zTXt', 'iTXt'].map((kind) => chunk(kind, Buffer.from(secret)))
  const colours = chunk('iCCP', Buffer.from('colours'))
  const whole = Buffer.concat([signature, first, ...metadata, colours, last, Buffer.from(secret)])
  expect(bare(whole)).toEqual(Buffer.concat([signature, first, colours, last]))
  const turned = bare(Buffer.concat([signature, first, chunk('eXIf', tiff(6, true)), last]))!
  const upright = Buffer.from('4d4d002a0000000800010112000300000001000600000000' + '0000', 'hex')
  expect(turned).toEqual(Buffer.concat([signature, first, chunk('eXIf', upright), last]))
  const seen = chunk('IDAT', Buffer.from('what is seen'))
  const broken = Buffer.concat([signature, first, ...metadata, seen.subarray(0, -5)])
  expect(bare(broken)).toEqual(Buffer.concat([signature, first, seen.subarray(0, -5)]))
})

const little = (kind: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from(kind), length, content, Buffer.alloc(content.length % 2)])
}
const webp = (...chunks: Buffer[]): Buffer => little('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]))

test('a WebP loses its metadata and the flags for it', () => {
  const extended = (flags: number): Buffer => little('VP8X', Buffer.from([flags, 0, 0, 0, 1, 0, 0, 1, 0, 0]))
  const picture = little('VP8 ', Buffer.from('odd'))
  const notes = [little('EXIF', tiff(1, true)), little('XMP ', Buffer.from(secret))]
  expect(bare(webp(extended(0x2c), picture, ...notes))).toEqual(webp(extended(0x20), picture))
  const turned = bare(webp(extended(0x0c), picture, little('EXIF', tiff(8, false))))!
  expect(turned.toString('latin1')).not.toContain(secret)
  const upright = Buffer.from('4d4d002a0000000800010112000300000001000800000000' + '0000', 'hex')
  expect(turned).toEqual(webp(extended(8), picture, little('EXIF', upright)))
  expect(bare(webp(picture))).toEqual(webp(picture))
  const broken = webp(extended(0x0c), ...notes, picture).subarray(0, -3)
  expect(bare(broken)!.toString('latin1')).not.toContain(secret)
  expect(bare(broken)!.subarray(12)).toEqual(webp(extended(0), picture).subarray(12, -3))
})

test('any bytes are processed without an error', () => {
  const beginnings = [start, Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('RIFF\0\x01\0\0WEBP')]
  fc.assert(
    fc.property(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 400 }), (beginning, rest) => {
      const given = Buffer.concat([beginning, exif(3).subarray(0, rest[0] ?? 0), rest])
      const left = bare(given)
      if (left) expect(left.length).toBeLessThanOrEqual(given.length + 36)
    }),
  )
})

test.skipIf(!hasChromium)('a browser shows the stripped picture like the original', async () => {
  const { page, open } = await demoShop(app, url, { width: 1280 })
  await open()
  for (const type of ['image/jpeg', 'image/png', 'image/webp']) {
    const drawn = (await page.evaluate(
      `(() => { const canvas = document.createElement('canvas'); canvas.width = 40; canvas.height = 20
        canvas.getContext('2d').fillRect(0, 0, 20, 20); return canvas.toDataURL('${type}') })()`,
    )) as string
    const plain = Buffer.from(drawn.split(',')[1]!, 'base64')
    const turnedBy: Record<string, [at: number, notes: Buffer]> = {
      'image/jpeg': [2, exif(6)],
      'image/png': [33, chunk('eXIf', tiff(6, true))],
    }
    const [at, notes] = turnedBy[type] ?? [0, Buffer.alloc(0)]
    const given = Buffer.concat([plain.subarray(0, at), notes, plain.subarray(at)])
    const sizeOf = (bytes: Buffer): Promise<unknown> =>
      page.evaluate(
        `(async () => { const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (each) => each.charCodeAt(0))
          const { width, height } = await createImageBitmap(new Blob([bytes], { type: '${type}' })); return [width, height] })()`,
      )
    const wanted = type in turnedBy ? [20, 40] : [40, 20]
    expect([type, await sizeOf(given), await sizeOf(bare(given)!)]).toEqual([type, wanted, wanted])
  }
})
