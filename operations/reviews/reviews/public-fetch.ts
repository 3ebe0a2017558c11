/** Fetches pictures from the public internet. */
import { FetchFailed, type FetchOverrides, fetchPublic } from '#runtime/http/public-fetch'

const types = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])

export interface Picture {
  bytes: Buffer
  contentType: string
}

/** Fetches a picture, within 10 seconds and up to 10 MiB. Throws `FetchFailed` on any failure. */
export const fetchPicture = (address: string, means: FetchOverrides = {}): Promise<Picture> =>
  fetchPublic(
    address,
    {
      accept: 'image/*',
      withinMs: 10_000,
      bytesAtMost: 10 * 1024 * 1024,
      redirectsAtMost: 3,
      checkType(contentType) {
        if (!types.has(contentType)) throw new FetchFailed('it is no JPEG, PNG, WebP or GIF')
      },
    },
    means,
  )
