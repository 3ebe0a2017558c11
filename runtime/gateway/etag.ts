import { hash } from 'node:crypto'

/** A strong ETag of a body. */
export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`

/** Whether an `If-None-Match` names this ETag: in a list, as `*`, or as the weak form that a proxy made of it. */
export function isNamedBy(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false
  return ifNoneMatch.split(',').some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()))
}

/** JSON without the fields that move by themselves (`movesOf`). */
export function withoutMoves(text: string, moves: readonly string[]): string {
  if (moves.length === 0) return text
  const resource: unknown = JSON.parse(text)
  for (const path of moves) leaveOut(resource, path.split('.'))
  return JSON.stringify(resource)
}

function leaveOut(value: unknown, [name, ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const each of value) leaveOut(each, [name!, ...rest])
  else if (typeof value === 'object' && value !== null && name !== undefined && name in value) {
    const fields = value as Record<string, unknown>
    if (rest.length > 0) leaveOut(fields[name], rest)
    else delete fields[name]
  }
}
