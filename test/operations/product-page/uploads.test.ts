import { expect, test } from 'vitest'
import uploadForBlock from '#operations/product-page/content-blocks/api/create-upload'
import uploadForSticker from '#operations/product-page/labels/api/create-upload'
import uploadForGuide from '#operations/product-page/size-guides/api/create-upload'
import uploadForSlider from '#operations/product-page/video-slider/api/create-upload'
import type { Operation } from '#runtime/operation'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const shop = await store(app)
const mebibyte = 1024 * 1024

test.each<[string, Operation, Record<string, number>, string[]]>([
  ['block', uploadForBlock, { 'image/png': 5 }, ['image/svg+xml', 'video/mp4']],
  ['sticker', uploadForSticker, { 'image/png': 2 }, ['image/svg+xml', 'image/jpeg']],
  ['size guide', uploadForGuide, { 'image/png': 5 }, ['image/gif']],
  [
    'video slider',
    uploadForSlider,
    { 'video/mp4': 100, 'video/webm': 100, 'image/webp': 5, 'image/png': 5 },
    ['image/gif', 'video/quicktime'],
  ],
])(
  'a file of a %s has one of its types, and at most so many mebibytes',
  async (_of, operation, sizes, wrong) => {
    const link = async (change: object) =>
      (await shop.call(operation, { body: { fileName: 'a', size: 5, ...change } })).status
    for (const [contentType, mebibytes] of Object.entries(sizes)) {
      expect(await link({ contentType, size: mebibytes * mebibyte }), contentType).toBe(200)
      expect(await link({ contentType, size: mebibytes * mebibyte + 1 }), contentType).toBe(400)
      expect(await link({ contentType, size: 0 })).toBe(400)
      expect(await link({ contentType, fileName: '' })).toBe(400)
    }
    for (const contentType of wrong) expect(await link({ contentType }), contentType).toBe(400)
  },
)
