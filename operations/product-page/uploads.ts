/** Upload rules for pictures and videos of the product page. */
import type { files } from '#operations/store/index'

const mebibyte = 1024 * 1024

export const blockImages = 'content-block'
export const stickerImages = 'product-sticker'
export const sliderVideos = 'video-slider'

export const uploads: Readonly<Record<string, files.Purpose>> = {
  [blockImages]: {
    contentTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
    maxBytes: 5 * mebibyte,
    visibility: 'public',
  },
  // SVG is not allowed, because it may contain scripts.
  [stickerImages]: {
    contentTypes: ['image/png', 'image/webp', 'image/gif'],
    maxBytes: 2 * mebibyte,
    visibility: 'public',
  },
  [sliderVideos]: {
    contentTypes: ['video/mp4', 'video/webm', 'image/jpeg', 'image/png', 'image/webp'],
    maxBytes: 5 * mebibyte,
    maxBytesOf: { 'video/mp4': 100 * mebibyte, 'video/webm': 100 * mebibyte },
    visibility: 'public',
  },
}
