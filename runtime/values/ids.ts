import { createHash, hash, randomBytes, randomFillSync } from 'node:crypto'

let lastMs = 0
let sequence = 0

/**
 * Creates a UUIDv7. Ids sort by time, and within one process and millisecond in the order of creation. The counter for
 * that has 26 bits: 12 before the variant and 14 after it. With 12 bits only, it would overflow within one bulk write
 * and the order would be lost.
 */
export function newId(ms: number): string {
  if (ms > lastMs) {
    lastMs = ms
    sequence = 0
  } else {
    sequence = (sequence + 1) & 0x3ffffff
  }
  if (taken === pool.length) {
    randomFillSync(pool)
    taken = 0
  }
  taken += 8
  const tail = pool.subarray(taken - 8, taken)
  tail.writeUInt16BE(sequence & 0x3fff)
  return format(ms, sequence >>> 14, tail)
}

/** Random bytes are generated in advance, since generating eight costs as much as hundreds. */
const pool = Buffer.alloc(512)
let taken = pool.length

/**
 * Derives an id from a name, always the same: for seeds, and for objects that must not be created twice. `ms`: the time
 * in the id.
 */
export function idFromName(name: string, ms: number): string {
  const digest = createHash('sha256').update(name).digest()
  return format(ms, digest.readUInt16BE(8) & 0xfff, digest)
}

function format(ms: number, low: number, random: Buffer): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  const tail = random.toString('hex', 0, 8)
  const variant = ((random[0]! & 0x3f) | 0x80).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${low.toString(16).padStart(3, '0')}-${variant}${tail.slice(2, 4)}-${tail.slice(4)}`
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Whether a text is an id. Checked before a query, which would fail on a malformed id. */
export const isId = (text: string): boolean => uuid.test(text)

export const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'hex')

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Returns a random text; each character of the alphabet is equally likely. */
export function randomText(length: number, alphabet = base62): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** Returns 32 random bytes in base62. */
export function randomSecret(): string {
  let value = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let text = ''
  for (let i = 0; i < 43; i += 1) {
    text = base62[Number(value % 62n)] + text
    value /= 62n
  }
  return text
}
