/** Uploads of this section, and addresses of pictures. */
import type { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

const mebibyte = 1024 * 1024

export const reviewImages = 'review-images'
export const reviewLogos = 'review-logos'
export const testimonialPhotos = 'testimonial-photos'
/** Reports of imports: the rows that were refused. */
export const importReports = 'review-import-reports'

const photos = ['image/jpeg', 'image/png', 'image/webp']
export const uploads: Readonly<Record<string, files.Purpose>> = {
  [reviewImages]: { contentTypes: photos, maxBytes: 10 * mebibyte, visibility: 'public' },
  [reviewLogos]: {
    contentTypes: ['image/jpeg', 'image/png', 'image/gif'],
    maxBytes: 2 * mebibyte,
    visibility: 'public',
  },
  [testimonialPhotos]: { contentTypes: photos, maxBytes: 5 * mebibyte, visibility: 'public' },
}

/** An address that is not https must be of a file uploaded here. */
export function refuseForeign(ctx: Context, url: string | null | undefined, field: string): void {
  if (!url || url.startsWith('https://') || ctx.adapters.storage.owns(url)) return
  throw refuse('bad_request', `${field}: must be an https address`)
}
