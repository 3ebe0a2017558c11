/** Bodies of the pages' own forms, as what a script would have sent. */
import { files } from '#operations/store/door'
import type { Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { exchangePhotos, photoMaxBytes, photoTypeOf } from '../requests/photos.ts'
import { type Lookup, lookupBody, maxItems, requestBody, type Submission } from './schema.ts'
import { orderOfSession } from './session.ts'

const fieldsAtMost = 256 * 1024
/** Of one request: photos of a phone, and no more than the server can hold of several shoppers at once. */
const photosAtMost = 32 * 1024 * 1024

/** Before the names of what was filled in, where it goes along while its order is looked up again. */
export const kept = 'kept.'

export interface LookupForm {
  lookup: Lookup
  /** Fields of the request's form. */
  kept: Record<string, string>
}

export function lookupForm(fields: Readonly<Record<string, string>>): LookupForm {
  const [along, own] = Object.entries(fields).reduce<[[string, string][], [string, string][]]>(
    (parts, field) => {
      parts[field[0].startsWith(kept) ? 0 : 1].push(field)
      return parts
    },
    [[], []],
  )
  return {
    lookup: read(lookupBody, Object.fromEntries(own), 'body'),
    kept: Object.fromEntries(along.map(([name, value]) => [name.slice(kept.length), value])),
  }
}

const ofItem = /^items\.(\d{1,4})\.([A-Za-z]+)$/

/** Numbers of the items in the form, by what they are. */
export const itemNumbers = (fields: Readonly<Record<string, string>>): Map<string, number> =>
  new Map(
    Object.entries(fields).flatMap(([name, value]) => {
      const [, at, field] = ofItem.exec(name) ?? []
      return field === 'orderItemId' ? [[value, Number(at)]] : []
    }),
  )

/** What is refused counts the items that are asked for, and calls photos what is stored of them. */
export function fieldInForm(field: string, fields: Readonly<Record<string, string>>): string {
  if (/^photoUrls\b/.test(field)) return 'photos'
  const [, at, name] = ofItem.exec(field) ?? []
  return at === undefined ? field : `items.${askedNumbers(fields)[Number(at)] ?? at}.${name}`
}

function askedNumbers(fields: Readonly<Record<string, string>>): number[] {
  const numbers = new Set<number>()
  for (const name of Object.keys(fields)) {
    const [, at] = ofItem.exec(name) ?? []
    if (at !== undefined) numbers.add(Number(at))
  }
  return [...numbers].filter((at) => isAsked(fields[`items.${at}.quantity`]))
}

const isAsked = (quantity: string | undefined): boolean => (quantity?.trim() ? Number(quantity) !== 0 : false)

export interface RequestForm {
  /** Its photos are still to be stored. */
  submission: Submission
  photos: File[]
}

/**
 * Items of which none is asked for are left out. Refuses a lookup that has expired before all else, what the form does
 * not take, and more than 32 MiB of photos.
 */
export async function requestForm(ctx: Context, visit: Visit): Promise<RequestForm> {
  const { fields, files: sent } = await visit.filledForm(photosAtMost + fieldsAtMost)
  orderOfSession(ctx, fields.sessionToken ?? '')
  const photos = sent.flatMap(([name, file]) => (name === 'photos' && file.size > 0 ? [file] : []))
  const given: Record<string, unknown> = {}
  const items = new Map<number, Record<string, unknown>>()
  for (const [name, value] of Object.entries(fields)) {
    const [, at, field] = ofItem.exec(name) ?? []
    if (at === undefined || field === undefined) given[name] = name === 'acceptedConditions' ? true : value
    else
      items.set(Number(at), {
        ...items.get(Number(at)),
        [field]: field === 'quantity' ? Number(value) : value,
      })
  }
  const asked = askedNumbers(fields).map((at) => items.get(at)!)
  if (asked.length === 0)
    throw refuse('bad_request', {
      en: 'items: choose how many of at least one',
      'pt-BR': 'items: escolha quantos de pelo menos um',
      es: 'items: elige cuántos de al menos uno',
    })
  if (asked.length > maxItems) throw refuse('bad_request', `items: must have at most ${maxItems}`)
  return { submission: read(requestBody, { ...given, items: asked }, 'body'), photos }
}

/** Stores photos, each of the type that its bytes say; answers their addresses. Not inside a transaction. */
export async function storePhotos(ctx: Context, photos: readonly File[]): Promise<string[]> {
  const read = await Promise.all(photos.map(async (photo) => new Uint8Array(await photo.arrayBuffer())))
  const checked = read.map((bytes) => {
    if (bytes.byteLength > photoMaxBytes)
      throw refuse('bad_request', {
        en: 'photoUrls: each may have at most 10 MiB',
        'pt-BR': 'photoUrls: cada uma pode ter até 10 MiB',
        es: 'photoUrls: cada una puede tener hasta 10 MiB',
      })
    const contentType = photoTypeOf(bytes)
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
