/** Detects an image's type and size from its bytes. */

export interface Image {
  contentType: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  extension: 'png' | 'jpg' | 'webp' | 'gif'
  width: number
  height: number
}

/** Returns null if the bytes are no image of the four types, or end before the image's size. */
export function parseImage(bytes: Buffer): Image | null {
  const size = readPng(bytes) ?? readGif(bytes) ?? readJpeg(bytes) ?? readWebp(bytes)
  return size && size.width > 0 && size.height > 0 ? size : null
}

const startsWith = (bytes: Buffer, text: string, at = 0): boolean =>
  bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text

/** A PNG has a signature, then the header chunk with the size, and at its end the chunk `IEND`. */
function readPng(bytes: Buffer): Image | null {
  if (!startsWith(bytes, '\x89PNG\r\n\x1a\n') || bytes.length < 45 || !startsWith(bytes, 'IHDR', 12))
    return null
  if (bytes.lastIndexOf('IEND', undefined, 'latin1') < 0) return null
  return {
    contentType: 'image/png',
    extension: 'png',
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
  }
}

function readGif(bytes: Buffer): Image | null {
  if (!(startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) || bytes.length < 14) return null
  return {
    contentType: 'image/gif',
    extension: 'gif',
    width: bytes.readUInt16LE(6),
    height: bytes.readUInt16LE(8),
  }
}

/** Skips the segments of a JPEG up to the frame header, which contains the size. */
function readJpeg(bytes: Buffer): Image | null {
  if (!startsWith(bytes, '\xff\xd8\xff')) return null
  let at = 2
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1]!
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) {
      const height = bytes.readUInt16BE(at + 5)
      return { contentType: 'image/jpeg', extension: 'jpg', width: bytes.readUInt16BE(at + 7), height }
    } else if (marker === 0xda || marker === 0xd9) return null
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}

/** Whether a marker starts a frame. Within that range of numbers, 0xc4, 0xc8 and 0xcc are other segments. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

function readWebp(bytes: Buffer): Image | null {
  if (!startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WEBP', 8) || bytes.length < 30) return null
  if (bytes.readUInt32LE(4) + 8 > bytes.length + 1) return null
  const size = webpSize(bytes)
  return size && { contentType: 'image/webp', extension: 'webp', ...size }
}

function webpSize(bytes: Buffer): { width: number; height: number } | null {
  if (startsWith(bytes, 'VP8X', 12)) {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  }
  if (startsWith(bytes, 'VP8L', 12) && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (startsWith(bytes, 'VP8 ', 12) && startsWith(bytes, '\x9d\x01\x2a', 23)) {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  return null
}
