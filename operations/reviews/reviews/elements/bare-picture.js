// What a phone writes into a picture beside what is seen (where it was taken, with what, by whom) stays with the shopper:
// a review's pictures are public. Which way is up is kept.

/** The same picture with nothing but what is seen; the file itself where it is none of JPEG, PNG and WebP. */
export async function barePicture(file) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const parts = partsOf(bytes)
  return parts ? new Blob(parts, { type: file.type }) : file
}

/** Null for what is none of the three. Of one that breaks off browsers show the beginning: that is as public. */
export function partsOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return ofJpeg(bytes)
  if (textAt(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return ofPng(bytes)
  return textAt(bytes, 0, 4) === 'RIFF' && textAt(bytes, 8, 4) === 'WEBP' ? ofWebp(bytes) : null
}

const textAt = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length))
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** JFIF, the colours' profile and Adobe's note on them. What comes after its end (a film of the moment, say) goes too. */
function ofJpeg(bytes) {
  const parts = [bytes.subarray(0, 2)]
  let orientation = 1
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1]
    // What is no segment is passed over, as browsers do.
    if (bytes[at] !== 0xff || marker === 0xff || isAlone(marker)) {
      at += 1
      continue
    }
    if (marker === 0xda) {
      if (orientation > 1) parts.splice(1, 0, exifOf(orientation))
      return [...parts, bytes.subarray(at, endOfJpeg(bytes, at))]
    }
    const end = at + 2 + bytes[at + 2] * 256 + bytes[at + 3]
    const segment = bytes.subarray(at, end)
    if (marker === 0xe1 && textAt(segment, 4, 6) === 'Exif\0\0')
      orientation = orientationIn(segment.subarray(10))
    const isSeen = marker < 0xe0 || (marker > 0xef && marker !== 0xfe)
    const isProfile = marker === 0xe2 && textAt(segment, 4, 11) === 'ICC_PROFILE'
    if (isSeen || isProfile || marker === 0xe0 || marker === 0xee) parts.push(segment)
    at = end
  }
  return null
}

/** A mark without a length, or none. */
const isAlone = (marker) => marker <= 1 || (marker >= 0xd0 && marker <= 0xd7)

/** Behind its last mark, or all: pictures that come to be seen step by step have several scans. */
function endOfJpeg(bytes, from) {
  for (let at = from; at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1]
    if (marker === 0xd9) return at + 2
    if (marker === 0xff) at += 1
    else if (isAlone(marker)) at += 2
    else at += 2 + bytes[at + 2] * 256 + bytes[at + 3]
  }
  return bytes.length
}

function ofPng(bytes) {
  const parts = [bytes.subarray(0, 8)]
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + viewOf(bytes).getUint32(at)
    const kind = textAt(bytes, at + 4, 4)
    const orientation = kind === 'eXIf' ? orientationIn(bytes.subarray(at + 8, end)) : 1
    if (orientation > 1) parts.push(pngChunkOf('eXIf', tiffOf(orientation)))
    if (!['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME'].includes(kind)) parts.push(bytes.subarray(at, end))
    if (kind === 'IEND') break
    at = end
  }
  return parts
}

function pngChunkOf(kind, content) {
  const chunk = new Uint8Array(12 + content.length)
  viewOf(chunk).setUint32(0, content.length)
  chunk.set(codesOf(kind), 4)
  chunk.set(content, 8)
  viewOf(chunk).setUint32(8 + content.length, crcOf(chunk.subarray(4, -4)))
  return chunk
}

function crcOf(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function ofWebp(bytes) {
  const parts = []
  const whole = Math.min(bytes.length, 8 + viewOf(bytes).getUint32(4, true))
  let orientation = 1
  for (let at = 12; at + 8 <= whole; ) {
    const kind = textAt(bytes, at, 4)
    const size = viewOf(bytes).getUint32(at + 4, true)
    const end = at + 8 + size + (size % 2)
    if (kind === 'EXIF') orientation = orientationIn(bytes.subarray(at + 8, end))
    else if (kind !== 'XMP ') parts.push(bytes.slice(at, Math.min(end, whole)))
    at = end
  }
  const upright = orientation > 1 ? [chunkOf('EXIF', tiffOf(orientation))] : []
  // It tells what follows; the simple forms have nothing beside the picture.
  const [first] = parts
  if (first && textAt(first, 0, 4) === 'VP8X') first[8] = (first[8] & ~0x0c) | (upright.length > 0 ? 8 : 0)
  else upright.length = 0
  const rest = [...parts, ...upright]
  const head = chunkOf('RIFF', new Uint8Array(4))
  head.set(codesOf('WEBP'), 8)
  viewOf(head).setUint32(
    4,
    rest.reduce((sum, part) => sum + part.length, 4),
    true,
  )
  return [head, ...rest]
}

const codesOf = (letters) => [...letters].map((letter) => letter.charCodeAt(0))

function chunkOf(kind, content) {
  const chunk = new Uint8Array(8 + content.length)
  chunk.set(codesOf(kind))
  viewOf(chunk).setUint32(4, content.length, true)
  chunk.set(content, 8)
  return chunk
}

/** 1 to 8, of the first directory of Exif's TIFF; 1 where it does not say. */
function orientationIn(given) {
  const tiff = textAt(given, 0, 6) === 'Exif\0\0' ? given.subarray(6) : given
  const isLittle = textAt(tiff, 0, 2) === 'II'
  const view = viewOf(tiff)
  try {
    const from = view.getUint32(4, isLittle)
    const count = view.getUint16(from, isLittle)
    for (let n = 0; n < count; n += 1) {
      const at = from + 2 + n * 12
      if (view.getUint16(at, isLittle) !== 0x112) continue
      const value = view.getUint16(at + 8, isLittle)
      return value >= 1 && value <= 8 ? value : 1
    }
  } catch {
    // It is cut off: the picture is shown as it lies.
  }
  return 1
}

/** A directory with nothing but which way is up. */
const tiffOf = (orientation) =>
  Uint8Array.of(
    ...[0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1],
    ...[1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0],
  )

function exifOf(orientation) {
  const tiff = tiffOf(orientation)
  return Uint8Array.of(0xff, 0xe1, 0, 8 + tiff.length, ...codesOf('Exif\0\0'), ...tiff)
}
