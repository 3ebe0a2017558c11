/** Upload rules for pictures of size guides. */
import type { files } from '#operations/store/index'

export const sizeGuideImages = 'size-guide'

export const sizeGuideUploads: files.Purpose = {
  contentTypes: ['image/png', 'image/jpeg', 'image/webp'],
  maxBytes: 5 * 1024 * 1024,
  visibility: 'public',
}
