/** Popup and its subscribers, contact form, and email unsubscribes. */
import type { Generated } from 'kysely'
import type { DefaultJson, Instant, Json, NullableInstant, NullableJson, StoreColumn } from './columns.ts'

interface NewsletterSettingsRow {
  store_id: StoreColumn
  settings: Json
  revision: Generated<number>
  /** When the popup was turned on; null while it is off. */
  enabled_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface NewsletterPrizesRow {
  store_id: StoreColumn
  id: string
  taken: Generated<number>
}

interface NewsletterPreviewsRow {
  store_id: StoreColumn
  id: string
  settings: Json
  expires_at: Instant
  created_at: Instant
}

interface NewsletterSyncsRow {
  store_id: StoreColumn
  id: string
  list_id: string
  mode: string
  status: Generated<string>
  /** The last subscriber of the pushed batch. */
  cursor: string | null
  pushed: Generated<number>
  failure_reason: string | null
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface NewsletterPullsRow {
  store_id: StoreColumn
  list_id: string
  /** When unsubscribes were last pulled from the email provider. */
  pulled_at: Instant
}

interface ContactFormSettingsRow {
  store_id: StoreColumn
  settings: Json
  revision: Generated<number>
  created_at: Instant
  updated_at: Instant
}

interface ContactFormSubmissionsRow {
  store_id: StoreColumn
  id: string
  name: string | null
  email: string | null
  phone: string | null
  message: string | null
  values: DefaultJson
  page_url: string | null
  /** The id of the rendered form, which identifies a repeated submission. */
  filling: string | null
  crm_list_id: string | null
  crm_status: string | null
  contact_id: string | null
  created_at: Instant
}

interface EmailUnsubscribesRow {
  store_id: StoreColumn
  /** The address in lower case. */
  email: string
  topic: string
  created_at: Instant
}

interface NewsletterSubscribersRow {
  store_id: StoreColumn
  id: string
  email: string | null
  phone: string | null
  phone_key: string | null
  name: string | null
  status: Generated<string>
  source: string
  consent_email: Generated<boolean>
  consent_phone: Generated<boolean>
  consent_text: string | null
  consent_at: NullableInstant
  prize_label: string | null
  coupon_code: string | null
  coupon_status: string | null
  page_url: string | null
  device: string | null
  unsubscribed_at: NullableInstant
  prize_id: Generated<string | null>
  /** The promised coupon; null without one. */
  coupon: NullableJson
  /** `due` while the code has to be emailed, then `sent`. */
  coupon_email: Generated<string | null>
  /** Incremented by each change that must be pushed to an email provider. */
  revision: Generated<number>
  pushed_revision: Generated<number | null>
  push_due: Generated<boolean>
  /** Whether the person was erased, and the email is kept until they are off the email provider's list. */
  erase_due: Generated<boolean>
  push_claim: Generated<string | null>
  push_claimed_at: NullableInstant
  mailprovider_status: Generated<string | null>
  mailprovider_synced_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface CaptureTables {
  newsletter_subscribers: NewsletterSubscribersRow
  newsletter_settings: NewsletterSettingsRow
  newsletter_prizes: NewsletterPrizesRow
  newsletter_previews: NewsletterPreviewsRow
  newsletter_syncs: NewsletterSyncsRow
  newsletter_pulls: NewsletterPullsRow
  contact_form_settings: ContactFormSettingsRow
  contact_form_submissions: ContactFormSubmissionsRow
  email_unsubscribes: EmailUnsubscribesRow
}

export const captureTables: Record<keyof CaptureTables, 'store_id'> = {
  newsletter_subscribers: 'store_id',
  newsletter_settings: 'store_id',
  newsletter_prizes: 'store_id',
  newsletter_previews: 'store_id',
  newsletter_syncs: 'store_id',
  newsletter_pulls: 'store_id',
  contact_form_settings: 'store_id',
  contact_form_submissions: 'store_id',
  email_unsubscribes: 'store_id',
}
