/** Pictures of size guides: what may be uploaded. */
import type { files } from '#operations/store/door'

export const sizeGuideImages = 'size-guide'

export const sizeGuideUploads: files.Purpose = {
  contentTypes: ['image/png', 'image/jpeg', 'image/webp'],
  maxBytes: 5 * 1024 * 1024,
  visibility: 'public',
}
