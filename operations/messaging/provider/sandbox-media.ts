/** Small valid files, one of each kind that can be sent to the sandbox's numbers. */

export interface MediaFile {
  bytes: Uint8Array
  contentType: string
  fileName: string | null
}

// Images of a single pixel.
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const webp = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'

/** The file of a kind (`image`, `video`, `audio`, `document`, `sticker`); null for others. */
export function sandboxFile(kind: string): MediaFile | null {
  switch (kind) {
    case 'image':
      return { bytes: Buffer.from(png, 'base64'), contentType: 'image/png', fileName: null }
    case 'sticker':
      return { bytes: Buffer.from(webp, 'base64'), contentType: 'image/webp', fileName: null }
    case 'audio':
      return { bytes: tone(), contentType: 'audio/wav', fileName: null }
    case 'video':
      return { bytes: emptyFilm(), contentType: 'video/mp4', fileName: null }
    case 'document':
      return { bytes: onePage(), contentType: 'application/pdf', fileName: 'sandbox.pdf' }
    default:
      return null
  }
}

/** A tenth of a second at 440 Hz: 8-bit mono WAV. */
function tone(): Buffer {
  const rate = 8_000
  const samples = Buffer.from(
    Array.from(
      { length: rate / 10 },
      (_none, i) => 128 + Math.round(60 * Math.sin((i * 880 * Math.PI) / rate)),
    ),
  )
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

const box = (type: string, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

/** An MP4 without tracks. */
function emptyFilm(): Buffer {
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1_000, 12)
  header.writeUInt32BE(0x00010000, 20)
  header.writeUInt16BE(0x0100, 24)
  header.writeUInt32BE(0x00010000, 36)
  header.writeUInt32BE(0x00010000, 52)
  header.writeUInt32BE(0x40000000, 68)
  header.writeUInt32BE(1, 96)
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1')),
    box('moov', box('mvhd', header)),
  ])
}

/** A PDF with one empty page. */
function onePage(): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>',
  ]
  let text = '%PDF-1.4\n'
  const places = objects.map((each, i) => {
    const at = text.length
    text += `${i + 1} 0 obj\n${each}\nendobj\n`
    return at
  })
  const tableAt = text.length
  text += `xref\n0 4\n0000000000 65535 f \n${places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')}`
  text += `trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n${tableAt}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}
