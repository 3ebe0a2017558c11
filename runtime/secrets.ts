/** Encrypts stored credentials and signs links, with keys derived from `SECRET_KEY`. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const cipher = 'aes-256-gcm'

/** Derives a separate key for each purpose. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'merchant-api', purpose, 32))

/** The server's secret, and the previous secret, which is only used to decrypt and verify. */
export interface SecretKeys {
  readonly secretKey: string
  readonly previousSecretKey: string | null
}

const allSecrets = ({ secretKey, previousSecretKey }: SecretKeys): string[] =>
  previousSecretKey === null ? [secretKey] : [secretKey, previousSecretKey]

/** Encrypts a JSON value; `context` (such as a store's id) must be the same at `unseal`. */
export function seal({ secretKey }: SecretKeys, context: string, value: unknown): string {
  const iv = randomBytes(12)
  const key = deriveKey(secretKey, 'credentials')
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context))
  const text = Buffer.concat([sealing.update(JSON.stringify(value), 'utf8'), sealing.final()])
  return [
    'v1',
    iv.toString('base64url'),
    sealing.getAuthTag().toString('base64url'),
    text.toString('base64url'),
  ].join('.')
}

/** Decrypts a JSON value. Throws if the text was changed, or was encrypted with another key or for another context. */
export function unseal(keys: SecretKeys, context: string, sealed: string): unknown {
  const [version, iv, tag, text] = sealed.split('.')
  if (version !== 'v1' || !iv || !tag || text === undefined) throw new Error('Sealed text has the wrong form')
  for (const secret of allSecrets(keys)) {
    const opening = createDecipheriv(cipher, deriveKey(secret, 'credentials'), Buffer.from(iv, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'))
    const opened = opening.update(Buffer.from(text, 'base64url'))
    try {
      return JSON.parse(Buffer.concat([opened, opening.final()]).toString('utf8'))
    } catch {
      // Try the other key; the error below follows if none fits.
    }
  }
  throw new Error(
    'Credentials were sealed with another SECRET_KEY: set SECRET_KEY_PREVIOUS to the one before, or connect again',
  )
}

/** HMAC-SHA256 in base64url, for one purpose. */
export const sign = ({ secretKey }: SecretKeys, purpose: string, text: string): string =>
  signed(secretKey, purpose, text)

const signed = (secret: string, purpose: string, text: string): string =>
  createHmac('sha256', deriveKey(secret, purpose)).update(text).digest('base64url')

/** Lists the valid signatures of a text: by the current secret, then by the previous one. */
export const listValidSignatures = (keys: SecretKeys, purpose: string, text: string): string[] =>
  allSecrets(keys).map((secret) => signed(secret, purpose, text))

export const hasValidSignature = (
  keys: SecretKeys,
  purpose: string,
  text: string,
  signature: string,
): boolean => listValidSignatures(keys, purpose, text).some((right) => equalsInConstantTime(signature, right))

/** Derives keys as text, for libraries that sign and verify themselves. The key of the current secret comes first. */
export const deriveSecrets = (keys: SecretKeys, purpose: string): string[] =>
  allSecrets(keys).map((secret) => deriveKey(secret, purpose).toString('hex'))

/** Compares in constant time. */
export function equalsInConstantTime(one: string, other: string): boolean {
  const left = Buffer.from(one)
  const right = Buffer.from(other)
  return left.length === right.length && timingSafeEqual(left, right)
}
