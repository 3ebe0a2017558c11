/** Reviews, the requests for them and their messages, and testimonials. */
import type { ColumnType, Generated } from 'kysely'
import type { DefaultJson, Instant, Json, NullableInstant, NullableJson, StoreColumn } from './columns.ts'

interface ReviewSettingsRow {
  store_id: StoreColumn
  content: Json
  /** When requests were turned on; null while they are off. */
  requests_since: NullableInstant
  scanned_to: NullableInstant
  created_at: Instant
  updated_at: Instant
}

/** A generated column. */
type Made<T> = ColumnType<T, never, never>

interface ProductReviewsRow {
  store_id: StoreColumn
  id: string
  product_id: string
  product_name: string | null
  product_image_url: string | null
  variant_id: string | null
  variant_name: string | null
  order_id: string | null
  order_item_id: string | null
  order_number: string | null
  customer_name: string
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  rating: number
  title: string | null
  text: string | null
  images: DefaultJson
  has_images: Made<boolean>
  show_images: Generated<boolean>
  status: string
  rejection_reason: string | null
  verified: Generated<boolean>
  verified_source: string | null
  featured: Generated<boolean>
  reply_text: string | null
  reply_author: string | null
  replied_at: NullableInstant
  has_reply: Made<boolean>
  source: string
  import_key: string | null
  search_text: string
  kind: Made<number>
  reviewed_at: Instant
  moderated_at: NullableInstant
  moderated_by: string | null
  created_at: Instant
  updated_at: Instant
}

interface ReviewDispatchesRow {
  store_id: StoreColumn
  id: string
  order_id: string
  order_number: string
  order_item_id: string
  product_id: string
  product_name: string
  variant_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  channel: string
  status: string
  reason: string | null
  scheduled_at: Instant
  /** When the request's first message was sent. */
  sent_at: NullableInstant
  /** When the request's last message was sent, which may be a reminder. */
  last_sent_at: NullableInstant
  next_reminder_at: NullableInstant
  reminders_sent: Generated<number>
  review_id: string | null
  /** The request's current or last message. */
  message_id: string | null
  search_text: string
  created_at: Instant
  updated_at: Instant
}

interface ReviewMessagesRow {
  store_id: StoreColumn
  id: string
  /** The position among the order's messages, from 1. */
  number: number
  kind: string
  order_id: string
  channel: string
  state: string
  email: string | null
  phone: string | null
  /** The rendered message, until it is sent. */
  content: NullableJson
  reservation_id: string | null
  calls: Generated<number>
  called_at: NullableInstant
  /** The earliest next attempt. */
  next_try_at: Instant
  provider_message_id: string | null
  failure: string | null
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ReviewTokensRow {
  store_id: StoreColumn
  hash: string
  order_id: string
  expires_at: Instant
  created_at: Instant
}

interface ReviewImportsRow {
  store_id: StoreColumn
  id: string
  status: string
  columns: Json
  default_status: string
  total: number
  /** The number of the last line that was imported. */
  cursor: Generated<number>
  imported: Generated<number>
  duplicates: Generated<number>
  failed: Generated<number>
  failure_reason: string | null
  user_id: string | null
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ReviewImportRowsRow {
  store_id: StoreColumn
  import_id: string
  line: number
  cells: Json
  fault_column: string | null
  fault: string | null
}

interface TestimonialsRow {
  store_id: StoreColumn
  id: string
  position: number
  author_name: string
  author_title: string | null
  text: string
  rating: number | null
  photo_url: string | null
  is_enabled: Generated<boolean>
  created_at: Instant
  updated_at: Instant
}

interface TestimonialSettingsRow {
  store_id: StoreColumn
  content: Json
  created_at: Instant
  updated_at: Instant
}

export interface ReviewTables {
  review_settings: ReviewSettingsRow
  product_reviews: ProductReviewsRow
  review_dispatches: ReviewDispatchesRow
  review_messages: ReviewMessagesRow
  review_tokens: ReviewTokensRow
  review_imports: ReviewImportsRow
  review_import_rows: ReviewImportRowsRow
  testimonials: TestimonialsRow
  testimonial_settings: TestimonialSettingsRow
}

export const reviewTables: Record<keyof ReviewTables, 'store_id'> = {
  review_settings: 'store_id',
  product_reviews: 'store_id',
  review_dispatches: 'store_id',
  review_messages: 'store_id',
  review_tokens: 'store_id',
  review_imports: 'store_id',
  review_import_rows: 'store_id',
  testimonials: 'store_id',
  testimonial_settings: 'store_id',
}
