import { hash } from 'node:crypto'

/** A strong ETag of a body. */
export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`

/** Whether an `If-None-Match` names this ETag: in a list, as `*`, or as the weak form that a proxy made of it. */
export function isNamedBy(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false
  return ifNoneMatch.split(',').some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()))
}
