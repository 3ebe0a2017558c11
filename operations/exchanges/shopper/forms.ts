/** Bodies of the pages' own forms, as what a script would have sent. */
import { files } from '#operations/store/door'
import type { Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { exchangePhotos, photoMaxBytes, photoTypeOf } from '../requests/photos.ts'
import { maxItems, requestBody, type Submission } from './schema.ts'

const fieldsAtMost = 256 * 1024
/** Of one request: photos of a phone, and no more than the server can hold of several shoppers at once. */
const photosAtMost = 32 * 1024 * 1024

export interface RequestForm {
  /** Its photos are still to be stored. */
  submission: Submission
  photos: File[]
}

/** Items of which none is asked for are left out. Refuses what the form does not take, and more than 32 MiB of photos. */
export async function requestForm(visit: Visit): Promise<RequestForm> {
  const { fields, files: sent } = await visit.filledForm(photosAtMost + fieldsAtMost)
  const photos = sent.flatMap(([name, file]) => (name === 'photos' && file.size > 0 ? [file] : []))
  const given: Record<string, unknown> = {}
  const items = new Map<number, Record<string, unknown>>()
  for (const [name, value] of Object.entries(fields)) {
    const [, at, field] = /^items\.(\d{1,4})\.([A-Za-z]+)$/.exec(name) ?? []
    if (at === undefined || field === undefined) given[name] = name === 'acceptedConditions' ? true : value
    else
      items.set(Number(at), {
        ...items.get(Number(at)),
        [field]: field === 'quantity' ? Number(value) : value,
      })
  }
  const asked = [...items.values()].filter(({ quantity }) => quantity !== 0 && quantity !== undefined)
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
