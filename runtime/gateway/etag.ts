import { hash } from 'node:crypto'

const digest = (text: string): string => hash('sha1', text, 'base64url')

/**
 * Builds the strong ETag of a body. If the resource has fields that change without a write, the tag has two halves:
 * `"<identity>.<body>"`. `If-None-Match` compares the whole tag, `If-Match` only the first half.
 */
export const buildEtag = (body: string, identity = body): string =>
  identity === body ? `"${digest(body)}"` : `"${digest(identity)}.${digest(body)}"`

/** Returns the part of a tag that `If-Match` compares: the first half, or the whole tag if it has no halves. */
export const toIdentityTag = (tag: string): string => tag.replace(/\.[\w-]+"$/, '"')

/**
 * Parses the tags of a header. Our tags are strong. A proxy that compresses an answer changes its tag to `W/"…"`
 * (nginx, HAProxy, Cloudflare) or `"…-gzip"` (Apache, Caddy), so the caller only knows the changed tag. These forms are
 * accepted too, since they still identify the state that was read.
 */
export function parseTags(header: string): string[] {
  return header.split(',').flatMap((each) => {
    const tag = each.trim().replace(/^W\//, '')
    const unpacked = tag.replace(/--?(?:gzip|br|zstd|deflate)"$/, '"')
    // Both forms are kept: a digest may end in `-gzip` or `-br` by chance.
    return tag === unpacked ? [tag] : [tag, unpacked]
  })
}

/** Whether an `If-None-Match` header, a list of tags or `*`, matches this ETag. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false
  return parseTags(ifNoneMatch).some((each) => each === etag || each === '*')
}

/** Returns a resource's JSON without its volatile fields (`getVolatileFields`); the result is only compared. */
export function omitVolatileFields(text: string, moves: readonly string[]): string {
  if (moves.length === 0) return text
  if (moves.every((path) => !path.includes('.')) && text.startsWith('{')) return omitFields(text, moves)
  const resource: unknown = JSON.parse(text)
  for (const path of moves) deleteField(resource, path.split('.'))
  return JSON.stringify(resource)
}

function deleteField(value: unknown, [name, ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const each of value) deleteField(each, [name!, ...rest])
  else if (typeof value === 'object' && value !== null && name !== undefined && name in value) {
    const fields = value as Record<string, unknown>
    if (rest.length > 0) deleteField(fields[name], rest)
    else delete fields[name]
  }
}

/**
 * Returns the text of an object's fields except `names`. Every read calls it: parsing would cost three times as much.
 */
function omitFields(text: string, names: readonly string[]): string {
  let rest = ''
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const close = stringEnd(text, at)
    const end = valueEnd(text, close + 1)
    // In pretty-printed JSON a line break before `}` follows the last value, a comma the others.
    if (!names.includes(text.slice(at + 1, close))) rest += text.slice(at, end).trimEnd()
    at = end
  }
  return rest
}

/** Returns the index of the closing quote of the string that opens at `open`. */
function stringEnd(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); ; at = json.indexOf('"', at + 1)) {
    let before = at - 1
    while (json[before] === '\\') before -= 1
    if ((at - before) % 2 === 1) return at
  }
}

/** Returns the index of the comma after a field's value, or of the end of its object. */
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
