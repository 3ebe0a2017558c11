/** Sealing of what is kept encrypted, and signing of links; both keyed by `SECRET_KEY`. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const cipher = 'aes-256-gcm'

/** A key for one purpose, so that one never serves another. */
export const derivedKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'merchant-api', purpose, 32))

/** Encrypts a JSON value; `context` (a store's id, say) must be the same at `unseal`. */
export function seal(secret: string, context: string, value: unknown): string {
  const iv = randomBytes(12)
  const sealing = createCipheriv(cipher, derivedKey(secret, 'credentials'), iv).setAAD(Buffer.from(context))
  const text = Buffer.concat([sealing.update(JSON.stringify(value), 'utf8'), sealing.final()])
  return [
    'v1',
    iv.toString('base64url'),
    sealing.getAuthTag().toString('base64url'),
    text.toString('base64url'),
  ].join('.')
}

/** Throws when the text was changed, or sealed with another key or for another context. */
export function unseal(secret: string, context: string, sealed: string): unknown {
  const [version, iv, tag, text] = sealed.split('.')
  if (version !== 'v1' || !iv || !tag || text === undefined) throw new Error('Sealed text has the wrong form')
  const opening = createDecipheriv(cipher, derivedKey(secret, 'credentials'), Buffer.from(iv, 'base64url'))
    .setAAD(Buffer.from(context))
    .setAuthTag(Buffer.from(tag, 'base64url'))
  return JSON.parse(
    Buffer.concat([opening.update(Buffer.from(text, 'base64url')), opening.final()]).toString('utf8'),
  )
}

/** HMAC-SHA256 in base64url, of one purpose. */
export const sign = (secret: string, purpose: string, text: string): string =>
  createHmac('sha256', derivedKey(secret, purpose)).update(text).digest('base64url')

/** Compared in constant time. */
export function equalText(one: string, other: string): boolean {
  const left = Buffer.from(one)
  const right = Buffer.from(other)
  return left.length === right.length && timingSafeEqual(left, right)
}
