// Removes metadata such as location, device and owner from pictures before they are uploaded, because a review's pictures
// are public. Keeps the orientation.

/** Returns the picture without metadata, or the file itself if it is not a JPEG, PNG or WebP. */
export async function stripMetadata(file) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const parts = splitParts(bytes)
  return parts ? new Blob(parts, { type: file.type }) : file
}

/**
 * Returns the parts of a picture to keep, or null if it is not a JPEG, PNG or WebP. A truncated file keeps the part
 * that browsers show.
 */
export function splitParts(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return splitJpeg(bytes)
  if (readText(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return splitPng(bytes)
  return readText(bytes, 0, 4) === 'RIFF' && readText(bytes, 8, 4) === 'WEBP' ? splitWebp(bytes) : null
}

const readText = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length))
const toView = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * Keeps the picture with the JFIF segment, the colour profile and Adobe's colour segment. Drops data after the end marker,
 * such as the video of a motion photo.
 */
function splitJpeg(bytes) {
  const parts = [bytes.subarray(0, 2)]
  let orientation = 1
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1]
    // Skips bytes outside of segments, as browsers do.
    if (bytes[at] !== 0xff || marker === 0xff || hasNoLength(marker)) {
      at += 1
      continue
    }
    if (marker === 0xda) {
      if (orientation > 1) parts.splice(1, 0, buildExif(orientation))
      return [...parts, bytes.subarray(at, findJpegEnd(bytes, at))]
    }
    const end = at + 2 + bytes[at + 2] * 256 + bytes[at + 3]
    const segment = bytes.subarray(at, end)
    if (marker === 0xe1 && readText(segment, 4, 6) === 'Exif\0\0')
      orientation = readOrientation(segment.subarray(10))
    const isSeen = marker < 0xe0 || (marker > 0xef && marker !== 0xfe)
    const isProfile = marker === 0xe2 && readText(segment, 4, 11) === 'ICC_PROFILE'
    if (isSeen || isProfile || marker === 0xe0 || marker === 0xee) parts.push(segment)
    at = end
  }
  return null
}

/** Whether a marker is not followed by a length field. */
const hasNoLength = (marker) => marker <= 1 || (marker >= 0xd0 && marker <= 0xd7)

/**
 * The position after the end marker; the length of the file if there is none. Walks over all scans, because a
 * progressive JPEG has several.
 */
function findJpegEnd(bytes, from) {
  for (let at = from; at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1]
    if (marker === 0xd9) return at + 2
    if (marker === 0xff) at += 1
    else if (hasNoLength(marker)) at += 2
    else at += 2 + bytes[at + 2] * 256 + bytes[at + 3]
  }
  return bytes.length
}

function splitPng(bytes) {
  const parts = [bytes.subarray(0, 8)]
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + toView(bytes).getUint32(at)
    const kind = readText(bytes, at + 4, 4)
    const orientation = kind === 'eXIf' ? readOrientation(bytes.subarray(at + 8, end)) : 1
    if (orientation > 1) parts.push(buildPngChunk('eXIf', buildTiff(orientation)))
    if (!['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME'].includes(kind)) parts.push(bytes.subarray(at, end))
    if (kind === 'IEND') break
    at = end
  }
  return parts
}

function buildPngChunk(kind, content) {
  const chunk = new Uint8Array(12 + content.length)
  toView(chunk).setUint32(0, content.length)
  chunk.set(toCodes(kind), 4)
  chunk.set(content, 8)
  toView(chunk).setUint32(8 + content.length, computeCrc(chunk.subarray(4, -4)))
  return chunk
}

function computeCrc(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function splitWebp(bytes) {
  const parts = []
  const whole = Math.min(bytes.length, 8 + toView(bytes).getUint32(4, true))
  let orientation = 1
  for (let at = 12; at + 8 <= whole; ) {
    const kind = readText(bytes, at, 4)
    const size = toView(bytes).getUint32(at + 4, true)
    const end = at + 8 + size + (size % 2)
    if (kind === 'EXIF') orientation = readOrientation(bytes.subarray(at + 8, end))
    else if (kind !== 'XMP ') parts.push(bytes.slice(at, Math.min(end, whole)))
    at = end
  }
  const upright = orientation > 1 ? [buildChunk('EXIF', buildTiff(orientation))] : []
  // Only a file with a VP8X header may contain other chunks than the picture. The header's flags say which.
  const [first] = parts
  if (first && readText(first, 0, 4) === 'VP8X') first[8] = (first[8] & ~0x0c) | (upright.length > 0 ? 8 : 0)
  else upright.length = 0
  const rest = [...parts, ...upright]
  const head = buildChunk('RIFF', new Uint8Array(4))
  head.set(toCodes('WEBP'), 8)
  toView(head).setUint32(
    4,
    rest.reduce((sum, part) => sum + part.length, 4),
    true,
  )
  return [head, ...rest]
}

const toCodes = (letters) => [...letters].map((letter) => letter.charCodeAt(0))

function buildChunk(kind, content) {
  const chunk = new Uint8Array(8 + content.length)
  chunk.set(toCodes(kind))
  toView(chunk).setUint32(4, content.length, true)
  chunk.set(content, 8)
  return chunk
}

/** Reads the orientation (1 to 8) from the first TIFF directory of the Exif data; 1 by default. */
function readOrientation(given) {
  const tiff = readText(given, 0, 6) === 'Exif\0\0' ? given.subarray(6) : given
  const isLittle = readText(tiff, 0, 2) === 'II'
  const view = toView(tiff)
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
    // The Exif data is truncated, so there is no orientation.
  }
  return 1
}

/** Builds a TIFF directory that has only the orientation. */
const buildTiff = (orientation) =>
  Uint8Array.of(
    ...[0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1],
    ...[1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0],
  )

function buildExif(orientation) {
  const tiff = buildTiff(orientation)
  return Uint8Array.of(0xff, 0xe1, 0, 8 + tiff.length, ...toCodes('Exif\0\0'), ...tiff)
}
