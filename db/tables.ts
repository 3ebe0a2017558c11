/**
 * Every table as Kysely sees it. Tenant tables have a `store_id`, which the wall fills in and compares;
 * the others are the server's own and out of reach for handlers.
 */
import type { Generated, Insertable, Selectable, Updateable } from 'kysely'
import { type AutomationTables, automationTables } from './tables/automations.ts'
import { type BarTables, barTables } from './tables/bars.ts'
import type {
  DefaultJson,
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
  StoreColumn,
} from './tables/columns.ts'
import { type ExchangeTables, exchangeTables } from './tables/exchanges.ts'
import { type InboxTables, inboxTables } from './tables/inbox.ts'
import { type LookTables, lookTables } from './tables/looks.ts'
import {
  type MessagingConnectionSystemTables,
  type MessagingConnectionTables,
  messagingConnectionSystemTables,
  messagingConnectionTables,
} from './tables/messaging.ts'
import {
  type MessagingSendTables,
  type MessagingSystemTables,
  messagingSendTables,
  messagingSystemTables,
} from './tables/messaging-sends.ts'
import { type PopupTables, popupTables } from './tables/popup.ts'
import { type ProductPageTables, productPageTables } from './tables/product-page.ts'
import { type PromotionTables, promotionTables } from './tables/promotions.ts'
import { type ReviewTables, reviewTables } from './tables/reviews.ts'
import { type StatisticsTables, statisticsTables } from './tables/statistics.ts'
import { type StockTables, stockTables } from './tables/stock.ts'
import { type StorefrontTables, storefrontTables } from './tables/storefront.ts'

export type {
  DefaultJson,
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
} from './tables/columns.ts'

export interface ServerSettingTable {
  name: string
  value: Json
}

export interface RateCounterTable {
  key: string
  started_at: Instant
  used: number
}

export interface JobScheduleTable {
  name: string
  next_at: Instant
}

export interface AgencyTable {
  id: string
  name: string
  branding: DefaultJson
  created_at: Instant
  updated_at: Instant
}

export interface UserTable {
  id: string
  name: string
  email: string
  created_at: Instant
  updated_at: Instant
}

export interface StoreTable {
  id: string
  slug: string
  public_id: string
  name: string
  domain: string
  platform: Generated<string>
  platform_store_id: string | null
  email: string | null
  phone: string | null
  country: string
  currency: string
  timezone: string
  locale: Generated<string>
  logo_url: string | null
  agency_id: string | null
  messaging_connection_type: string | null
  attribution: DefaultJson
  preferences: DefaultJson
  storefront_revision: Generated<number>
  onboarding: DefaultJson
  onboarding_completed_at: NullableInstant
  joined_at: Instant
  created_at: Instant
  updated_at: Instant
}

export interface MembershipTable {
  store_id: StoreColumn
  user_id: string
  role: string
  joined_at: Instant
  removed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface InvitationTable {
  store_id: StoreColumn
  id: string
  email: string
  role: string
  status: Generated<string>
  token_hash: string
  invited_by: string
  accepted_at: NullableInstant
  expires_at: Instant
  created_at: Instant
  updated_at: Instant
}

export interface ApiKeyTable {
  store_id: StoreColumn
  id: string
  user_id: string
  name: string
  hash: string
  prefix: string
  scopes: string[]
  environment: Generated<string>
  expires_at: NullableInstant
  revoked_at: NullableInstant
  revoked_reason: string | null
  last_used_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ConnectionTable {
  store_id: StoreColumn
  port: string
  provider: string
  credentials: string | null
  settings: DefaultJson
  connected_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface SubscriptionTable {
  store_id: StoreColumn
  id: string
  plan_id: string
  status: string
  billing_cycle: string | null
  price: NullableNumeric
  currency: string | null
  provider: string | null
  anchor_at: Instant
  current_period_start: Instant
  current_period_end: Instant
  next_charge_at: NullableInstant
  next_charge_amount: NullableNumeric
  trial_ends_at: NullableInstant
  grace_ends_at: NullableInstant
  cancelled_at: NullableInstant
  ends_at: NullableInstant
  paused_at: NullableInstant
  cancel_reason: string | null
  pause_reason: string | null
  scheduled_change: NullableJson
  coupon: NullableJson
  credit_balance: DefaultNumeric
  payment_method: NullableJson
  agreement_id: string | null
  agreement_status: string | null
  agreement_cycle: string | null
  agreement_amount: NullableNumeric
  agreement_since: NullableInstant
  agreement_changed_at: NullableInstant
  period_cost: NullableNumeric
  cancel_comment: string | null
  version: Generated<number>
  created_at: Instant
  updated_at: Instant
}

export interface PaymentTable {
  store_id: StoreColumn
  id: string
  provider: string
  provider_payment_id: string
  agreement_id: string | null
  checkout_id: string | null
  status: string
  kind: string
  amount: Numeric
  /** What of it went back to the payer. */
  refunded: DefaultNumeric
  discount: DefaultNumeric
  credit_applied: DefaultNumeric
  currency: string
  plan_id: string
  billing_cycle: string
  period_start: NullableInstant
  period_end: NullableInstant
  attempt: Generated<number>
  failure_reason: string | null
  payment_method: NullableJson
  receipt_url: string | null
  paid_at: NullableInstant
  provider_updated_at: Instant
  created_at: Instant
  updated_at: Instant
}

export interface CheckoutTable {
  store_id: StoreColumn
  id: string
  kind: string
  status: string
  provider: string
  provider_checkout_id: string | null
  url: string | null
  plan_id: string
  billing_cycle: string
  amount: Numeric
  currency: string
  coupon_code: string | null
  terms: NullableJson
  failure_reason: string | null
  expires_at: Instant
  completed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface BillingIntentTable {
  store_id: StoreColumn
  id: string
  kind: string
  key: string
  status: Generated<string>
  provider: string
  agreement_id: string
  terms: Json
  held_until: Instant
  failure: string | null
  created_at: Instant
  updated_at: Instant
}

export interface CouponRedemptionTable {
  store_id: StoreColumn
  code: string
  redeemed_at: Instant
}

export interface UsageCycleTable {
  store_id: StoreColumn
  starts_at: Instant
  ends_at: Instant
  message_limit: number
  used: Generated<number>
  reserved: Generated<number>
  counts_from: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface UsageReservationTable {
  store_id: StoreColumn
  id: string
  cycle_starts_at: Instant
  source: string
  units: number
  created_at: Instant
  updated_at: Instant
}

export interface MessageLedgerTable {
  store_id: StoreColumn
  message_id: string
  channel: string
  source: string
  source_id: string | null
  phone_key: string | null
  email: string | null
  provider_message_id: string | null
  status: string
  failure_code: string | null
  cycle_starts_at: NullableInstant
  sent_at: Instant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
}

export interface OrderTable {
  store_id: StoreColumn
  id: string
  number: string
  status: string
  payment_status: string
  fulfillment_status: string
  currency: string
  subtotal: Numeric
  discount: DefaultNumeric
  shipping: DefaultNumeric
  total: Numeric
  refunded_total: DefaultNumeric
  coupon_codes: Generated<string[]>
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  payment_method: string | null
  payment_url: string | null
  status_url: string | null
  cart_id: string | null
  tracking_code: string | null
  tracking_url: string | null
  shipping_address: NullableJson
  click_token: string | null
  placed_at: Instant
  paid_at: NullableInstant
  shipped_at: NullableInstant
  delivered_at: NullableInstant
  cancelled_at: NullableInstant
  updated_at: Instant
}

export interface OrderItemTable {
  store_id: StoreColumn
  order_id: string
  id: string
  position: number
  product_id: string | null
  variant_id: string | null
  name: string
  sku: string | null
  image_url: string | null
  quantity: number
  unit_price: Numeric
  total: Numeric
  refunded_quantity: Generated<number>
  refunded_total: DefaultNumeric
}

export interface AttributionTouchTable {
  store_id: StoreColumn
  id: string
  source_type: string
  source_id: string
  source_name: string | null
  automation_type: string | null
  channel: string
  message_id: string | null
  phone_key: string | null
  email: string | null
  coupon_code: string | null
  click_token: string | null
  product_id: string | null
  touched_at: Instant
  voided_at: NullableInstant
  /** Conversions that are counted now. */
  conversions: Generated<number>
}

export interface ConversionTable {
  store_id: StoreColumn
  id: string
  order_id: string
  order_number: string
  status: string
  source_type: string
  source_id: string
  source_name: string | null
  automation_type: string | null
  channel: string
  message_id: string | null
  touch_id: string | null
  customer: Json
  currency: string
  order_total: Numeric
  refunded_total: Numeric
  revenue: Numeric
  coupon_code: string | null
  touched_at: Instant
  placed_at: Instant
  paid_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ConversionItemTable {
  store_id: StoreColumn
  conversion_id: string
  position: number
  product_id: string | null
  variant_id: string | null
  name: string
  sku: string | null
  image_url: string | null
  quantity: number
  refunded_quantity: Generated<number>
  unit_price: Numeric
  total: Numeric
  refunded_total: DefaultNumeric
}

export interface NotificationTable {
  store_id: StoreColumn
  id: string
  type: Generated<string>
  level: Generated<string>
  title: string
  message: string | null
  link: string | null
  data: NullableJson
  source: Generated<string>
  created_by: string | null
  recipient_ids: string[] | null
  dedupe_key: string | null
  created_at: Instant
  updated_at: Instant
}

export interface NotificationReadTable {
  store_id: StoreColumn
  notification_id: string
  user_id: string
  read_at: Instant
}

export interface FileTable {
  store_id: StoreColumn
  id: string
  purpose: string
  key: string
  url: string
  file_name: string | null
  content_type: string
  size: number
  visibility: string
  uploaded_at: NullableInstant
  expires_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface FileUseTable {
  store_id: StoreColumn
  file_id: string
  owner: string
  created_at: Instant
}

export interface ExportTable {
  store_id: StoreColumn
  id: string
  name: string
  user_id: string
  email: string
  query: Json
  query_hash: string
  status: Generated<string>
  rows: number | null
  failure_reason: string | null
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ProviderEventTable {
  id: string
  store_id: string | null
  port: string
  provider: string
  key: string
  kind: string
  payload: Json
  occurred_at: Instant
  applied_at: NullableInstant
  attempts: Generated<number>
  failure: string | null
  created_at: Instant
}

export interface IdempotencyKeyTable {
  store_id: StoreColumn
  key: string
  request_hash: string
  /** Of the request that holds the claim. */
  owner: string | null
  status: number | null
  body: string | null
  headers: NullableJson
  /** When the claim was last renewed, by the database's clock. */
  claimed_at: Instant
  created_at: Instant
}

export interface MessagingConnectionTable {
  store_id: StoreColumn
  type: string
  status: string
  provider: Generated<string>
  credentials: string | null
  number_id: string | null
  phone: string | null
  display_name: string | null
  issue_code: string | null
  connected_at: NullableInstant
  checked_at: NullableInstant
  phone_key: string | null
  account_id: string | null
  display_name_status: string | null
  health: NullableJson
  health_at: NullableInstant
  setup_id: string | null
  session_ref: string | null
  session_codes: string | null
  session_started_at: NullableInstant
  session_claimed_at: NullableInstant
  session_ended_at: NullableInstant
  end_reason: string | null
  lost_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface SenderNumberTable {
  id: string
  next_at: Instant
  throttled_until: NullableInstant
}

export interface MessageTemplateTable {
  store_id: StoreColumn
  id: Generated<number>
  provider_id: string | null
  name: string
  language: string
  category: string
  header: NullableJson
  body: string
  footer: string | null
  buttons: DefaultJson
  examples: DefaultJson
  status: string
  rejection_reason: string | null
  quality: Generated<string>
  paused_until: NullableInstant
  submitted_at: NullableInstant
  reviewed_at: NullableInstant
  synced_at: NullableInstant
  placeholders: DefaultJson
  /** Counts what was handed in to the provider. */
  submission: Generated<number>
  was_approved: Generated<boolean>
  /** Edits of an approved one in the last 30 days. */
  edited_at: Generated<Date[]>
  next_edit_at: NullableInstant
  status_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ContactWindowTable {
  store_id: StoreColumn
  phone_key: string
  last_inbound_at: Instant
}

export interface SandboxMessageTable {
  id: string
  store_id: string
  idempotency_key: string
  provider_message_id: string
  calls: Generated<number>
  phone: string
  kind: string
  content: Json
  stage: Generated<number>
  next_event_at: NullableInstant
  sent_at: Instant
}

export interface SandboxModeTable {
  store_id: string
  port: string
  mode: string
}

export interface SandboxObjectTable {
  store_id: string
  kind: string
  id: string
  position: Generated<number | null>
  data: Json
  updated_at: Instant
}

export interface SandboxAgreementTable {
  id: string
  store_id: string
  checkout_id: string
  status: string
  reason: string
  payer_email: string
  amount: Numeric
  currency: string
  frequency: number
  starts_at: NullableInstant
  anchor_at: NullableInstant
  next_payment_at: NullableInstant
  next_try_at: NullableInstant
  retry: Generated<number>
  card: NullableJson
  created_at: Instant
  updated_at: Instant
}

export interface SandboxCheckoutTable {
  id: string
  store_id: string
  checkout_id: string
  agreement_id: string
  kind: string
  title: string
  first_amount: Numeric
  currency: string
  coupon: string | null
  status: Generated<string>
  failure_reason: string | null
  return_url: string
  expires_at: Instant
  closed_at: NullableInstant
  created_at: Instant
}

export interface SandboxPaymentTable {
  id: string
  position: Generated<string>
  store_id: string
  agreement_id: string
  checkout_id: string | null
  idempotency_key: string | null
  status: string
  amount: Numeric
  /** What of it went back to the payer. */
  refunded: DefaultNumeric
  currency: string
  due_at: NullableInstant
  attempt: Generated<number>
  failure_reason: string | null
  card: NullableJson
  charge_back_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface SandboxBillingEventTable {
  id: Generated<string>
  store_id: string
  agreement_id: string
  key: string
  body: Json
  occurred_at: Instant
  delivered_at: NullableInstant
}

export interface OptOutTable {
  store_id: StoreColumn
  id: string
  phone: string
  phone_key: string
  note: string | null
  source: string
  campaign_id: string | null
  created_at: Instant
  updated_at: Instant
}

export interface ContactListTable {
  store_id: StoreColumn
  id: string
  name: string
  source: string
  filters: NullableJson
  size: Generated<number>
  custom_field_names: Generated<string[]>
  last_synced_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ListContactTable {
  store_id: StoreColumn
  id: string
  list_id: string
  phone: string
  phone_key: string
  name: string | null
  email: string | null
  custom_fields: DefaultJson
  source: string
  platform_customer_id: string | null
  created_at: Instant
  updated_at: Instant
}

export interface ListExclusionTable {
  store_id: StoreColumn
  list_id: string
  phone_key: string
  created_at: Instant
}

export interface ListImportTable {
  store_id: StoreColumn
  id: string
  list_id: string
  kind: string
  status: string
  options: DefaultJson
  cursor: string | null
  total: number | null
  processed: Generated<number>
  added: Generated<number>
  updated: Generated<number>
  unchanged: Generated<number>
  invalid: Generated<number>
  excluded: Generated<number>
  errors: DefaultJson
  failure_reason: string | null
  user_id: string | null
  started_at: NullableInstant
  finished_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface ListImportRowTable {
  store_id: StoreColumn
  import_id: string
  line: number
  cells: Json
}

export interface CampaignTable {
  store_id: StoreColumn
  id: string
  name: string
  list_id: string | null
  list_name: string | null
  content: Json
  send_window: NullableJson
  status: Generated<string>
  pause_reason: string | null
  failure_reason: string | null
  audience_size: number | null
  audience_opted_out: number | null
  total: Generated<number>
  pending: Generated<number>
  sent: Generated<number>
  delivered: Generated<number>
  read: Generated<number>
  failed: Generated<number>
  skipped: Generated<number>
  cancelled: Generated<number>
  attempted_since_start: Generated<number>
  failed_since_start: Generated<number>
  reservation_id: string | null
  snapshot_at: NullableInstant
  last_progress_at: NullableInstant
  trouble_since: NullableInstant
  scheduled_at: NullableInstant
  started_at: NullableInstant
  paused_at: NullableInstant
  completed_at: NullableInstant
  next_batch_at: NullableInstant
  estimated_finish_at: NullableInstant
  created_by: string | null
  deleted_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface CampaignMessageTable {
  store_id: StoreColumn
  id: string
  campaign_id: string
  contact_id: string | null
  phone: string
  phone_key: string
  name: string | null
  email: string | null
  custom_fields: DefaultJson
  status: string
  skip_reason: string | null
  failure_code: string | null
  failure_message: string | null
  text: string | null
  attempts: Generated<number>
  generation: Generated<number>
  provider_message_id: string | null
  claim_id: string | null
  claimed_at: NullableInstant
  called_at: NullableInstant
  reservation_id: string | null
  unit: Generated<string>
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

export interface NewsletterSubscriberTable {
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
  /** The coupon as it was promised; null without one. */
  coupon: NullableJson
  /** `due` while the code has to be emailed, then `sent`. */
  coupon_email: Generated<string | null>
  /** Grows with what an email provider would be told. */
  revision: Generated<number>
  pushed_revision: Generated<number | null>
  push_due: Generated<boolean>
  push_claim: Generated<string | null>
  push_claimed_at: NullableInstant
  mailprovider_status: Generated<string | null>
  mailprovider_synced_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

/** A view: members of the store and who once were (removed_at). */
export interface StorePersonTable {
  store_id: StoreColumn
  user_id: string
  name: string
  email: string
  role: string
  joined_at: Instant
  removed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

/** A view: the agency of the store, if any. */
export interface StoreAgencyTable {
  store_id: StoreColumn
  name: string
  branding: Json
}

/** What a handler may see: one store's rows. */
export interface TenantTables
  extends AutomationTables,
    InboxTables,
    MessagingConnectionTables,
    MessagingSendTables,
    StatisticsTables,
    StorefrontTables,
    PopupTables,
    StockTables,
    ReviewTables,
    PromotionTables,
    BarTables,
    LookTables,
    ProductPageTables,
    ExchangeTables {
  stores: StoreTable
  memberships: MembershipTable
  invitations: InvitationTable
  api_keys: ApiKeyTable
  connections: ConnectionTable
  subscriptions: SubscriptionTable
  payments: PaymentTable
  checkouts: CheckoutTable
  billing_intents: BillingIntentTable
  coupon_redemptions: CouponRedemptionTable
  usage_cycles: UsageCycleTable
  usage_reservations: UsageReservationTable
  message_ledger: MessageLedgerTable
  orders: OrderTable
  order_items: OrderItemTable
  attribution_touches: AttributionTouchTable
  conversions: ConversionTable
  conversion_items: ConversionItemTable
  notifications: NotificationTable
  notification_reads: NotificationReadTable
  files: FileTable
  file_uses: FileUseTable
  exports: ExportTable
  idempotency_keys: IdempotencyKeyTable
  messaging_connections: MessagingConnectionTable
  message_templates: MessageTemplateTable
  contact_windows: ContactWindowTable
  opt_outs: OptOutTable
  contact_lists: ContactListTable
  list_contacts: ListContactTable
  list_exclusions: ListExclusionTable
  list_imports: ListImportTable
  list_import_rows: ListImportRowTable
  campaigns: CampaignTable
  campaign_messages: CampaignMessageTable
  newsletter_subscribers: NewsletterSubscriberTable
  store_people: StorePersonTable
  store_agencies: StoreAgencyTable
}

/** Out of a handler's reach. */
export interface SystemTables extends MessagingSystemTables, MessagingConnectionSystemTables {
  server_settings: ServerSettingTable
  rate_counters: RateCounterTable
  job_schedules: JobScheduleTable
  agencies: AgencyTable
  users: UserTable
  provider_events: ProviderEventTable
  sender_numbers: SenderNumberTable
  sandbox_messages: SandboxMessageTable
  sandbox_modes: SandboxModeTable
  sandbox_objects: SandboxObjectTable
  sandbox_agreements: SandboxAgreementTable
  sandbox_checkouts: SandboxCheckoutTable
  sandbox_payments: SandboxPaymentTable
  sandbox_billing_events: SandboxBillingEventTable
}

export interface Tables extends TenantTables, SystemTables {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
export type RowChange<T extends keyof Tables> = Updateable<Tables[T]>

const tenantTables: Record<keyof TenantTables, 'id' | 'store_id'> = {
  ...statisticsTables,
  ...automationTables,
  ...messagingSendTables,
  ...messagingConnectionTables,
  ...inboxTables,
  ...storefrontTables,
  ...popupTables,
  ...stockTables,
  ...reviewTables,
  ...promotionTables,
  ...barTables,
  ...lookTables,
  ...productPageTables,
  ...exchangeTables,
  stores: 'id',
  memberships: 'store_id',
  invitations: 'store_id',
  api_keys: 'store_id',
  connections: 'store_id',
  subscriptions: 'store_id',
  payments: 'store_id',
  checkouts: 'store_id',
  billing_intents: 'store_id',
  coupon_redemptions: 'store_id',
  usage_cycles: 'store_id',
  usage_reservations: 'store_id',
  message_ledger: 'store_id',
  orders: 'store_id',
  order_items: 'store_id',
  attribution_touches: 'store_id',
  conversions: 'store_id',
  conversion_items: 'store_id',
  notifications: 'store_id',
  notification_reads: 'store_id',
  files: 'store_id',
  file_uses: 'store_id',
  exports: 'store_id',
  idempotency_keys: 'store_id',
  messaging_connections: 'store_id',
  message_templates: 'store_id',
  contact_windows: 'store_id',
  opt_outs: 'store_id',
  contact_lists: 'store_id',
  list_contacts: 'store_id',
  list_exclusions: 'store_id',
  list_imports: 'store_id',
  list_import_rows: 'store_id',
  campaigns: 'store_id',
  campaign_messages: 'store_id',
  newsletter_subscribers: 'store_id',
  store_people: 'store_id',
  store_agencies: 'store_id',
}
const systemTables: Record<keyof SystemTables, true> = {
  ...messagingSystemTables,
  ...messagingConnectionSystemTables,
  server_settings: true,
  rate_counters: true,
  job_schedules: true,
  agencies: true,
  users: true,
  provider_events: true,
  sender_numbers: true,
  sandbox_messages: true,
  sandbox_modes: true,
  sandbox_objects: true,
  sandbox_agreements: true,
  sandbox_checkouts: true,
  sandbox_payments: true,
  sandbox_billing_events: true,
}

/** The column that says whose row it is; null for what is no table (a CTE's name); `system` is out of reach. */
export function tenantColumn(table: string): 'id' | 'store_id' | 'system' | null {
  if (Object.hasOwn(tenantTables, table)) return tenantTables[table as keyof TenantTables]
  return Object.hasOwn(systemTables, table) ? 'system' : null
}
