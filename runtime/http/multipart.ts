/**
 * A form with files, as browsers send it (RFC 7578). What `Response.formData` makes of 30 MiB of small parts, or of what
 * only resembles its boundary, takes it half a minute in which this process answers nobody: here a part ends where
 * Buffer finds the boundary, and there are only so many.
 */
import { refuse } from '#runtime/errors'

export type FormEntry = [name: string, value: string | File]

/** Of one part, all together. */
const headersAtMost = 8 * 1024
/** Of what is no file, all together: each letter of it is looked at. */
const textsAtMost = 256 * 1024

export const tooManyFields = () => refuse('bad_request', 'body: has too many parameters')
const noForm = () => refuse('bad_request', 'body: is no form')

/** Of a Content-Type; null where it is that of no such form. Refuses one without. */
export function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/form-data\b/i.test(contentType)) return null
  const { quoted, plain } =
    /;\s*boundary=(?:"(?<quoted>[^"]{1,70})"|(?<plain>[^\s;,"]{1,70}))/i.exec(contentType)?.groups ?? {}
  const boundary = quoted ?? plain
  if (boundary === undefined) throw noForm()
  return boundary
}

/** In their order. Refuses what is no such form, and more than `partsAtMost`. */
export function formEntries(given: Uint8Array, boundary: string, partsAtMost: number): FormEntry[] {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const entries: FormEntry[] = []
  let textsLeft = textsAtMost
  // The first may begin the body.
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
  let at = isFirst ? -2 : bytes.indexOf(delimiter)
  for (;;) {
    if (at === -1) throw noForm()
    const begins = at + delimiter.length
    if (bytes.toString('latin1', begins, begins + 2) === '--') return entries
    if (entries.length === partsAtMost) throw tooManyFields()
    const length = bytes.subarray(begins, begins + headersAtMost).indexOf('\r\n\r\n')
    if (length < 0) throw noForm()
    const content = begins + length + 4
    // Of an empty part the boundary begins where its headers end.
    at = bytes.indexOf(delimiter, content - 2)
    if (at === -1) throw noForm()
    const headers = bytes.toString('utf8', begins, begins + length)
    const entry = entryOf(headers, bytes.subarray(content, Math.max(content, at)), textsLeft)
    if (typeof entry[1] === 'string') textsLeft -= Math.max(0, at - content)
    entries.push(entry)
  }
}

function entryOf(headers: string, content: Buffer, textAtMost: number): FormEntry {
  const about = /\r\ncontent-disposition:[ \t]*form-data[ \t]*(;[^\r\n]*)/i.exec(headers)?.[1] ?? ''
  const name = parameterOf(about, 'name')
  if (name === null) throw noForm()
  const fileName = parameterOf(about, 'filename') ?? encodedName(about)
  if (fileName === null) {
    if (content.length > textAtMost) throw refuse('payload_too_large', 'The fields are larger than 256 KiB')
    return [name, new TextDecoder().decode(content)]
  }
  const type = /\r\ncontent-type:[ \t]*([^\r\n]*)/i.exec(headers)?.[1] ?? 'text/plain'
  return [name, new File([new Uint8Array(content)], fileName, { type: type.trim() })]
}

/** Browsers put a value into quotes, and escape what would end it; some programs write it as it is. */
function parameterOf(about: string, name: string): string | null {
  const [, quoted, plain] = new RegExp(`;[ \\t]*${name}=(?:"([^"]*)"|([^\\s;"]+))`, 'i').exec(about) ?? []
  return quoted?.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replaceAll('%22', '"') ?? plain ?? null
}

/** As programs write it that have no other way for a name beyond ASCII (RFC 8187). */
function encodedName(about: string): string | null {
  const found = /;[ \t]*filename\*=utf-8'[^']*'([^;\s]*)/i.exec(about)?.[1]
  if (found === undefined) return null
  try {
    return decodeURIComponent(found)
  } catch {
    throw noForm()
  }
}
