/** Parses the HTML forms of the pages into the same bodies that a script sends as JSON. */
import { files } from '#operations/store/index'
import type { Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { parseInput } from '#runtime/gateway/input'
import { detectPhotoType, exchangePhotos, photoMaxBytes } from '../requests/photos.ts'
import { type Lookup, lookupBody, maxItems, requestBody, type Submission } from './schema.ts'
import { requireSession } from './session.ts'

const fieldsAtMost = 256 * 1024
/**
 * Limit for the photos of one form: enough for a phone's photos, and several forms at once fit into the server's
 * memory.
 */
const photosAtMost = 32 * 1024 * 1024

/** Prefix of hidden lookup-form fields. They keep a filled-in request form while the shopper looks the order up again. */
export const keptPrefix = 'kept.'

export interface LookupForm {
  lookup: Lookup
  /** Fields of a request form that was filled in before. */
  restored: Record<string, string>
}

export function parseLookupForm(fields: Readonly<Record<string, string>>): LookupForm {
  const [along, own] = Object.entries(fields).reduce<[[string, string][], [string, string][]]>(
    (parts, field) => {
      parts[field[0].startsWith(keptPrefix) ? 0 : 1].push(field)
      return parts
    },
    [[], []],
  )
  return {
    lookup: parseInput(lookupBody, Object.fromEntries(own), 'body'),
    restored: Object.fromEntries(along.map(([name, value]) => [name.slice(keptPrefix.length), value])),
  }
}

const itemFieldPattern = /^items\.(\d{1,4})\.([A-Za-z]+)$/

/** Maps each order item id to its number in the form's field names (`items.<number>.…`). */
export const mapItemNumbers = (fields: Readonly<Record<string, string>>): Map<string, number> =>
  new Map(
    Object.entries(fields).flatMap(([name, value]) => {
      const [, at, field] = itemFieldPattern.exec(name) ?? []
      return field === 'orderItemId' ? [[value, Number(at)]] : []
    }),
  )

/**
 * Maps the field of an error to the form's field. Errors number only the requested items, the form numbers all items;
 * errors name `photoUrls` where the form has `photos`.
 */
export function toFormField(field: string, fields: Readonly<Record<string, string>>): string {
  if (/^photoUrls\b/.test(field)) return 'photos'
  const [, at, name] = itemFieldPattern.exec(field) ?? []
  return at === undefined ? field : `items.${listRequestedNumbers(fields)[Number(at)] ?? at}.${name}`
}

function listRequestedNumbers(fields: Readonly<Record<string, string>>): number[] {
  const numbers = new Set<number>()
  for (const name of Object.keys(fields)) {
    const [, at] = itemFieldPattern.exec(name) ?? []
    if (at !== undefined) numbers.add(Number(at))
  }
  return [...numbers].filter((at) => isRequested(fields[`items.${at}.quantity`]))
}

const isRequested = (quantity: string | undefined): boolean =>
  quantity?.trim() ? Number(quantity) !== 0 : false

export interface RequestForm {
  /** Has no photo URLs, because the photos are not stored yet. */
  submission: Submission
  photos: File[]
}

/**
 * Parses the form; items without a quantity are left out. Refuses an expired session before it checks the fields. Refuses
 * more than 32 MiB of photos.
 */
export async function parseRequestForm(ctx: Context, visit: Visit): Promise<RequestForm> {
  const { fields, files: sent } = await visit.filledForm(photosAtMost + fieldsAtMost)
  requireSession(ctx, fields.sessionToken ?? '')
  const photos = sent.flatMap(([name, file]) => (name === 'photos' && file.size > 0 ? [file] : []))
  const given: Record<string, unknown> = {}
  const items = new Map<number, Record<string, unknown>>()
  for (const [name, value] of Object.entries(fields)) {
    const [, at, field] = itemFieldPattern.exec(name) ?? []
    if (at === undefined || field === undefined) given[name] = name === 'acceptedConditions' ? true : value
    else
      items.set(Number(at), {
        ...items.get(Number(at)),
        [field]: field === 'quantity' ? Number(value) : value,
      })
  }
  const requested = listRequestedNumbers(fields).map((at) => items.get(at)!)
  if (requested.length === 0)
    throw refuse('bad_request', {
      en: 'items: choose how many of at least one',
      'pt-BR': 'items: escolha quantos de pelo menos um',
      es: 'items: elige cuántos de al menos uno',
    })
  if (requested.length > maxItems) throw refuse('bad_request', `items: must have at most ${maxItems}`)
  return { submission: parseInput(requestBody, { ...given, items: requested }, 'body'), photos }
}

/** Stores photos with the content type detected from their bytes, and returns their URLs. Not inside a transaction. */
export async function storePhotos(ctx: Context, photos: readonly File[]): Promise<string[]> {
  const read = await Promise.all(photos.map(async (photo) => new Uint8Array(await photo.arrayBuffer())))
  const checked = read.map((bytes) => {
    if (bytes.byteLength > photoMaxBytes)
      throw refuse('bad_request', {
        en: 'photoUrls: each may have at most 10 MiB',
        'pt-BR': 'photoUrls: cada uma pode ter até 10 MiB',
        es: 'photoUrls: cada una puede tener hasta 10 MiB',
      })
    const contentType = detectPhotoType(bytes)
    if (!contentType)
      throw refuse('bad_request', {
        en: 'photoUrls: must be JPEG, PNG, WebP or HEIC',
        'pt-BR': 'photoUrls: devem ser JPEG, PNG, WebP ou HEIC',
        es: 'photoUrls: tienen que ser JPEG, PNG, WebP o HEIC',
      })
    return { bytes, contentType }
  })
  const urls: string[] = []
  for (const { bytes, contentType } of checked) {
    const { url } = await files.put(ctx, exchangePhotos, {
      fileName: `photo.${contentType.slice('image/'.length)}`,
      contentType,
      visibility: 'private',
      content: bytes,
    })
    urls.push(url)
  }
  return urls
}
