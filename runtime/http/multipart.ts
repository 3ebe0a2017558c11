/**
 * Parses a form with files, as browsers send it (RFC 7578). `Response.formData` is not used: 30 MiB of small parts, or
 * of text that resembles the boundary, block the process for half a minute. This parser finds the boundaries by
 * `Buffer.indexOf`, and limits the number of parts.
 */
import { refuse } from '#runtime/errors'

export type FormEntry = [name: string, value: string | File]

/** The most bytes of one part's headers. */
const headersAtMost = 8 * 1024
/** The most bytes of all text fields together, since each character is checked. */
const textsAtMost = 256 * 1024

export const tooManyFieldsError = () => refuse('bad_request', 'body: has too many parameters')
const invalidFormError = () => refuse('bad_request', 'body: is no form')

/** Parses the boundary in a Content-Type; null for another type. Refuses one without a boundary. */
export function parseBoundary(contentType: string): string | null {
  if (!/^multipart\/form-data\b/i.test(contentType)) return null
  const { quoted, plain } =
    /;\s*boundary=(?:"(?<quoted>[^"]{1,70})"|(?<plain>[^\s;,"]{1,70}))/i.exec(contentType)?.groups ?? {}
  const boundary = quoted ?? plain
  if (boundary === undefined) throw invalidFormError()
  return boundary
}

/** Returns the parts in their order. Refuses an invalid form, and one with more than `partsAtMost` parts. */
export function parseMultipart(given: Uint8Array, boundary: string, partsAtMost: number): FormEntry[] {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const entries: FormEntry[] = []
  let textsLeft = textsAtMost
  // The body may begin with the first boundary, without a line break before it.
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
  let at = isFirst ? -2 : bytes.indexOf(delimiter)
  for (;;) {
    if (at === -1) throw invalidFormError()
    const begins = at + delimiter.length
    if (bytes.toString('latin1', begins, begins + 2) === '--') return entries
    if (entries.length === partsAtMost) throw tooManyFieldsError()
    const length = bytes.subarray(begins, begins + headersAtMost).indexOf('\r\n\r\n')
    if (length < 0) throw invalidFormError()
    const content = begins + length + 4
    // The boundary after an empty part begins where its headers end.
    at = bytes.indexOf(delimiter, content - 2)
    if (at === -1) throw invalidFormError()
    const headers = bytes.toString('utf8', begins, begins + length)
    const entry = parseEntry(headers, bytes.subarray(content, Math.max(content, at)), textsLeft)
    if (typeof entry[1] === 'string') textsLeft -= Math.max(0, at - content)
    entries.push(entry)
  }
}

function parseEntry(headers: string, content: Buffer, textAtMost: number): FormEntry {
  const about = /\r\ncontent-disposition:[ \t]*form-data[ \t]*(;[^\r\n]*)/i.exec(headers)?.[1] ?? ''
  const name = parseParameter(about, 'name')
  if (name === null) throw invalidFormError()
  const fileName = parseParameter(about, 'filename') ?? parseEncodedName(about)
  if (fileName === null) {
    if (content.length > textAtMost) throw refuse('payload_too_large', 'The fields are larger than 256 KiB')
    return [name, new TextDecoder().decode(content)]
  }
  const type = /\r\ncontent-type:[ \t]*([^\r\n]*)/i.exec(headers)?.[1] ?? 'text/plain'
  return [name, new File([new Uint8Array(content)], fileName, { type: type.trim() })]
}

/** Reads a parameter of a header. Browsers quote its value and escape quotes in it; some programs do not quote it. */
function parseParameter(about: string, name: string): string | null {
  const [, quoted, plain] = new RegExp(`;[ \\t]*${name}=(?:"([^"]*)"|([^\\s;"]+))`, 'i').exec(about) ?? []
  return quoted?.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replaceAll('%22', '"') ?? plain ?? null
}

/** Reads `filename*`, the form in which some programs send a file name beyond ASCII (RFC 8187); null without it. */
function parseEncodedName(about: string): string | null {
  const found = /;[ \t]*filename\*=utf-8'[^']*'([^;\s]*)/i.exec(about)?.[1]
  if (found === undefined) return null
  try {
    return decodeURIComponent(found)
  } catch {
    throw invalidFormError()
  }
}
