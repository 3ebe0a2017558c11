/** Defines the upload purposes of this section, and validates picture URLs. */
import type { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

const mebibyte = 1024 * 1024

export const reviewImages = 'review-images'
export const reviewLogos = 'review-logos'
export const testimonialPhotos = 'testimonial-photos'
/** Purpose of import reports, which contain the refused rows of a file. */
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

/** Refuses a URL that is neither https nor a file uploaded here. */
export function refuseForeignUrl(ctx: Context, url: string | null | undefined, field: string): void {
  if (!url || url.startsWith('https://') || ctx.adapters.storage.owns(url)) return
  throw refuse('bad_request', `${field}: must be an https address`)
}
