/** What blocks, stickers, badges and videos register at start. */
import { registerEvents, registerWidget } from '#operations/storefront/door'
import { contentBlocksWidget } from './content-blocks/widget.ts'
import { badgesWidget, stickersWidget } from './labels/widgets.ts'
import { registerUploads } from './uploads.ts'
import {
  countBlockEvents,
  countSliderEvents,
  existingBlocks,
  existingSliders,
} from './video-slider/counters.ts'
import { videoSliderWidget } from './video-slider/widget.ts'

export function wireContent(): void {
  registerUploads()
  registerWidget('contentBlocks', { feature: 'product-content', build: contentBlocksWidget })
  registerWidget('stickers', { feature: 'product-content', build: stickersWidget })
  registerWidget('badges', { feature: 'product-content', build: badgesWidget })
  registerWidget('videoSlider', { feature: 'product-media', build: videoSliderWidget })
  registerEvents('content-block', {
    feature: 'product-content',
    types: ['impression', 'click'],
    existing: existingBlocks,
    count: countBlockEvents,
  })
  registerEvents('video-slider', {
    feature: 'product-media',
    types: ['impression', 'click'],
    existing: existingSliders,
    count: countSliderEvents,
  })
}
