/** Pictures from the public internet. */
import { fetchPublic, type Means, NotFetched } from '#runtime/http/public-fetch'

const types = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])

export interface Picture {
  bytes: Buffer
  contentType: string
}

/** At most 10 seconds and 10 MiB. Throws `NotFetched` for whatever is in the way. */
export const fetchPicture = (address: string, means: Means = {}): Promise<Picture> =>
  fetchPublic(
    address,
    {
      accept: 'image/*',
      withinMs: 10_000,
      bytesAtMost: 10 * 1024 * 1024,
      redirectsAtMost: 3,
      checkType(contentType) {
        if (!types.has(contentType)) throw new NotFetched('it is no JPEG, PNG, WebP or GIF')
      },
    },
    means,
  )
