/** Promotions, bundles and gifts; installments; settings of widgets. */
import type { Generated, GeneratedAlways } from 'kysely'
import type {
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
  StoreColumn,
} from './columns.ts'

interface DiscountsRow {
  store_id: StoreColumn
  id: string
  kind: string
  name: string
  is_active: boolean
  starts_at: NullableInstant
  ends_at: NullableInstant
  /** `combinesWith`, and the fields of this kind of discount. */
  content: Json
  /** The revision of the last write; each push to the platform has a higher one than the previous. */
  revision: Generated<number>
  /** `none`, `synced`, `failed` or `suspended`, as stored; reads compute `pending`. */
  sync_status: Generated<string>
  sync_error: Generated<string | null>
  synced_at: NullableInstant
  usage_count: Generated<number>
  discount_total: DefaultNumeric
  currency: string
  impressions: Generated<number>
  clicks: Generated<number>
  cart_adds: Generated<number>
  /** For a bundle: whether an item was unpublished or missing at the last check. */
  is_unavailable: Generated<boolean>
  usage_limit: GeneratedAlways<number | null>
  min_amount: GeneratedAlways<string | null>
  created_at: Instant
  updated_at: Instant
}

interface DiscountIntentsRow {
  store_id: StoreColumn
  discount_id: string
  kind: string
  /** The token of the request that carries out the intent. Another request that takes over replaces it. */
  token: string
  /** `create`, `change`, `remove` or `repair`. */
  action: string
  /** The discount's name that the intent reserves. */
  name: string | null
  /** Whether the discount will be live although its stored row is not. */
  takes_place: boolean
  /** False once the platform has failed to answer: the name and the slot are then free again. */
  is_reserving: boolean
  wanted: NullableJson
  revision: number
  created_at: Instant
}

interface InstallmentRulesRow {
  store_id: StoreColumn
  id: string
  name: string
  min_amount: Numeric
  max_amount: NullableNumeric
  max_installments: number
  interest_free_installments: number
  /** In per cent a month. */
  monthly_interest_rate: Numeric
  min_installment_amount: Numeric
  is_active: boolean
  created_at: Instant
  updated_at: Instant
}

interface WidgetSettingsRow {
  store_id: StoreColumn
  key: string
  content: Json
  updated_at: Instant
}

export interface PromotionTables {
  discounts: DiscountsRow
  discount_intents: DiscountIntentsRow
  installment_rules: InstallmentRulesRow
  widget_settings: WidgetSettingsRow
}

export const promotionTables: Record<keyof PromotionTables, 'store_id'> = {
  discounts: 'store_id',
  discount_intents: 'store_id',
  installment_rules: 'store_id',
  widget_settings: 'store_id',
}
