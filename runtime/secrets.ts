/** Sealing of what is kept encrypted, and signing of links; both keyed by `SECRET_KEY` (see `SecretKeys`). */
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

/** The server's secret, and the one before it: that opens and verifies what it made, and makes nothing new. */
export interface SecretKeys {
  readonly secretKey: string
  readonly previousSecretKey: string | null
}

const each = ({ secretKey, previousSecretKey }: SecretKeys): string[] =>
  previousSecretKey === null ? [secretKey] : [secretKey, previousSecretKey]

/** Encrypts a JSON value; `context` (a store's id, say) must be the same at `unseal`. */
export function seal({ secretKey }: SecretKeys, context: string, value: unknown): string {
  const iv = randomBytes(12)
  const key = derivedKey(secretKey, 'credentials')
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context))
  const text = Buffer.concat([sealing.update(JSON.stringify(value), 'utf8'), sealing.final()])
  return [
    'v1',
    iv.toString('base64url'),
    sealing.getAuthTag().toString('base64url'),
    text.toString('base64url'),
  ].join('.')
}

/** Throws when the text was changed, or sealed with a key that is neither of these or for another context. */
export function unseal(keys: SecretKeys, context: string, sealed: string): unknown {
  const [version, iv, tag, text] = sealed.split('.')
  if (version !== 'v1' || !iv || !tag || text === undefined) throw new Error('Sealed text has the wrong form')
  for (const secret of each(keys)) {
    const opening = createDecipheriv(cipher, derivedKey(secret, 'credentials'), Buffer.from(iv, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'))
    const opened = opening.update(Buffer.from(text, 'base64url'))
    try {
      return JSON.parse(Buffer.concat([opened, opening.final()]).toString('utf8'))
    } catch {
      // The other key is tried; where none fits it is told below.
    }
  }
  throw new Error(
    'Credentials were sealed with another SECRET_KEY: set SECRET_KEY_PREVIOUS to the one before, or connect again',
  )
}

/** HMAC-SHA256 in base64url, of one purpose. */
export const sign = ({ secretKey }: SecretKeys, purpose: string, text: string): string =>
  signed(secretKey, purpose, text)

const signed = (secret: string, purpose: string, text: string): string =>
  createHmac('sha256', derivedKey(secret, purpose)).update(text).digest('base64url')

/** What may stand on a text: the signature of today, then that of the key before. */
export const signaturesOf = (keys: SecretKeys, purpose: string, text: string): string[] =>
  each(keys).map((secret) => signed(secret, purpose, text))

export const isSigned = (keys: SecretKeys, purpose: string, text: string, signature: string): boolean =>
  signaturesOf(keys, purpose, text).some((right) => equalText(signature, right))

/** Keys for one purpose as text, for what signs and verifies by itself: that of today first. */
export const derivedSecrets = (keys: SecretKeys, purpose: string): string[] =>
  each(keys).map((secret) => derivedKey(secret, purpose).toString('hex'))

/** Compared in constant time. */
export function equalText(one: string, other: string): boolean {
  const left = Buffer.from(one)
  const right = Buffer.from(other)
  return left.length === right.length && timingSafeEqual(left, right)
}
