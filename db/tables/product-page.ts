/** Product pages: content blocks, stickers and badges, videos. */
import type { Generated } from 'kysely'
import type { Instant, Json, NullableInstant, StoreColumn } from './columns.ts'

interface ContentBlocksRow {
  store_id: StoreColumn
  id: string
  name: string
  type: string
  design: Json
  /** Targeting, placement and device. */
  content: Json
  starts_at: NullableInstant
  ends_at: NullableInstant
  is_active: boolean
  /** 1..n without gaps, first to last. */
  priority: number
  impressions: Generated<number>
  clicks: Generated<number>
  created_at: Instant
  updated_at: Instant
}

interface ProductLabelsRow {
  store_id: StoreColumn
  id: string
  /** `sticker` or `badge`. */
  kind: string
  name: string
  /** Targeting, condition and fields of the kind. */
  content: Json
  starts_at: NullableInstant
  ends_at: NullableInstant
  is_active: boolean
  priority: number
  created_at: Instant
  updated_at: Instant
}

interface VideoSlidersRow {
  store_id: StoreColumn
  id: string
  product_id: string
  content: Json
  is_active: boolean
  impressions: Generated<number>
  clicks: Generated<number>
  created_at: Instant
  updated_at: Instant
}

interface HomeVideoSlidersRow {
  store_id: StoreColumn
  content: Json
  is_enabled: boolean
  impressions: Generated<number>
  clicks: Generated<number>
  updated_at: Instant
}

export interface ProductPageTables {
  content_blocks: ContentBlocksRow
  home_video_sliders: HomeVideoSlidersRow
  product_labels: ProductLabelsRow
  video_sliders: VideoSlidersRow
}

export const productPageTables: Record<keyof ProductPageTables, 'store_id'> = {
  content_blocks: 'store_id',
  home_video_sliders: 'store_id',
  product_labels: 'store_id',
  video_sliders: 'store_id',
}
