/** The store's subscription and payments, and the sandbox of the payment provider. */
import type { Generated } from 'kysely'
import type {
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
  ServerPlacement,
  StoreColumn,
} from './columns.ts'

interface SubscriptionsRow {
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
  pause_reason: 'payment-failed' | 'provider' | 'chargeback' | null
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
  followed_at: NullableInstant
  period_cost: NullableNumeric
  cancel_comment: string | null
  version: Generated<number>
  created_at: Instant
  updated_at: Instant
}

interface PaymentsRow {
  store_id: StoreColumn
  id: string
  provider: string
  provider_payment_id: string
  agreement_id: string | null
  checkout_id: string | null
  status: string
  kind: string
  amount: Numeric
  /** The refunded part. */
  refunded: DefaultNumeric
  discount: DefaultNumeric
  credit_applied: DefaultNumeric
  /** The change of the credit balance that this payment and its refunds explain. */
  balance_change: DefaultNumeric
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

interface CheckoutsRow {
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

interface BillingIntentsRow {
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

interface CouponRedemptionsRow {
  store_id: StoreColumn
  code: string
  redeemed_at: Instant
}

interface SandboxAgreementsRow {
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

interface SandboxCheckoutsRow {
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

interface SandboxPaymentsRow {
  id: string
  position: Generated<string>
  store_id: string
  agreement_id: string
  checkout_id: string | null
  idempotency_key: string | null
  status: string
  amount: Numeric
  /** The refunded part. */
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

interface SandboxBillingEventsRow {
  id: Generated<string>
  store_id: string
  agreement_id: string
  key: string
  body: Json
  occurred_at: Instant
  delivered_at: NullableInstant
}

export interface SubscriptionTables {
  subscriptions: SubscriptionsRow
  payments: PaymentsRow
  checkouts: CheckoutsRow
  billing_intents: BillingIntentsRow
  coupon_redemptions: CouponRedemptionsRow
}

export interface SubscriptionSystemTables {
  sandbox_agreements: SandboxAgreementsRow
  sandbox_checkouts: SandboxCheckoutsRow
  sandbox_payments: SandboxPaymentsRow
  sandbox_billing_events: SandboxBillingEventsRow
}

export const subscriptionTables: Record<keyof SubscriptionTables, 'store_id'> = {
  subscriptions: 'store_id',
  payments: 'store_id',
  checkouts: 'store_id',
  billing_intents: 'store_id',
  coupon_redemptions: 'store_id',
}

export const subscriptionSystemTables: Record<keyof SubscriptionSystemTables, ServerPlacement> = {
  sandbox_agreements: 'coordinator',
  sandbox_checkouts: 'coordinator',
  sandbox_payments: 'coordinator',
  sandbox_billing_events: 'coordinator',
}
