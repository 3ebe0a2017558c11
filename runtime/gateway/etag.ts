import { hash } from 'node:crypto'

const digest = (text: string): string => hash('sha1', text, 'base64url')

/**
 * A strong ETag of a body. Where a part of it moves by itself the tag has two halves: `"<identity>.<body>"`. A reader
 * who holds the answer compares all of it, a writer (`If-Match`) the first half alone.
 */
export const etagOf = (body: string, identity = body): string =>
  identity === body ? `"${digest(body)}"` : `"${digest(identity)}.${digest(body)}"`

/** What `If-Match` compares of a tag: also of one that was given out before tags had halves. */
export const identityOfTag = (tag: string): string => tag.replace(/\.[\w-]+"$/, '"')

/**
 * The tags that a header names. Ours are strong; a proxy that packs an answer makes `W/"…"` of it (nginx, HAProxy,
 * Cloudflare) or `"…-gzip"` (Apache, Caddy), and the caller can send no other. It still says which state was read.
 */
export function tagsOf(header: string): string[] {
  return header.split(',').flatMap((each) => {
    const tag = each.trim().replace(/^W\//, '')
    const unpacked = tag.replace(/--?(?:gzip|br|zstd|deflate)"$/, '"')
    // A digest may end like this by chance.
    return tag === unpacked ? [tag] : [tag, unpacked]
  })
}

/** Whether an `If-None-Match` names this ETag: in a list, or as `*`. */
export function isNamedBy(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false
  return tagsOf(ifNoneMatch).some((each) => each === etag || each === '*')
}

/** What is left of a resource's JSON without the fields that move by themselves (`movesOf`), as a text to compare. */
export function withoutMoves(text: string, moves: readonly string[]): string {
  if (moves.length === 0) return text
  if (moves.every((path) => !path.includes('.')) && text.startsWith('{')) return withoutFields(text, moves)
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

/** The fields of an object as they stand in its JSON, but for these. Every read asks: parsing costs three times as much. */
function withoutFields(text: string, names: readonly string[]): string {
  let kept = ''
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const close = stringEnd(text, at)
    const end = valueEnd(text, close + 1)
    // The last value is followed by the line break before `}` where the JSON is pretty-printed, the others by a comma.
    if (!names.includes(text.slice(at + 1, close))) kept += text.slice(at, end).trimEnd()
    at = end
  }
  return kept
}

/** Where the text that opens here ends. */
function stringEnd(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); ; at = json.indexOf('"', at + 1)) {
    let before = at - 1
    while (json[before] === '\\') before -= 1
    if ((at - before) % 2 === 1) return at
  }
}

/** Where the value after a name ends: at the comma behind it, or the end of its object. */
function valueEnd(json: string, from: number): number {
  let depth = 0
  for (let at = from; at < json.length; at += 1) {
    const sign = json[at]
    if (sign === '"') at = stringEnd(json, at)
    else if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') {
      if (depth === 0) return at
      depth -= 1
    } else if (sign === ',' && depth === 0) return at
  }
  return json.length
}
