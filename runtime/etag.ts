import { hash } from 'node:crypto'

/** A strong ETag of a body. */
export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`
