/** Carts, automations, their runs and messages, and the counters of the storefront's widgets. */
import type { Generated } from 'kysely'
import type {
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
  StoreColumn,
} from './columns.ts'

interface CartsRow {
  store_id: StoreColumn
  id: string
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  items: Json
  total: Numeric
  currency: string
  url: string
  order_id: string | null
  last_activity_at: Instant
  created_at: Instant
  updated_at: Instant
}

interface AutomationsRow {
  store_id: StoreColumn
  id: string
  type: string
  name: string
  is_active: boolean
  activated_at: NullableInstant
  delay_minutes: number
  message: Json
  coupon: NullableJson
  conditions: Json
  skip_if_purchased: boolean
  quiet_hours: Json
  settings: Json
  flow: NullableJson
  flow_version: number | null
  created_by: string | null
  deleted_at: NullableInstant
  scan_day: string | null
  scan_cursor: string | null
  executing_job_id: string | null
  executing_left: number | null
  created_at: Instant
  updated_at: Instant
}

interface AutomationFlowVersionsRow {
  store_id: StoreColumn
  automation_id: string
  version: number
  flow: NullableJson
  step_count: number
  message_count: number
  created_by: string | null
  created_at: Instant
}

interface AutomationRunsRow {
  store_id: StoreColumn
  id: string
  automation_id: string
  entry_key: string
  origin: string
  flow_version: number | null
  event: string
  entity_type: string
  entity_id: string
  occurred_at: Instant
  cart_id: string | null
  order_id: string | null
  customer_id: string | null
  phone: string | null
  phone_key: string | null
  email: string | null
  contact_name: string | null
  /** The user who started the run manually; null if it started automatically. */
  created_by: string | null
  entered_at: Instant
  ended_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface AutomationExecutionsRow {
  store_id: StoreColumn
  id: string
  run_id: string
  automation_id: string
  sequence: number
  step_id: string | null
  status: string
  phone: string | null
  phone_key: string | null
  scheduled_at: Instant
  hold_reason: string | null
  held_since: NullableInstant
  held_ms: Generated<number>
  hold_tries: Generated<number>
  due_at: NullableInstant
  is_forced: Generated<boolean>
  passed_purchase_check: Generated<boolean>
  message: NullableJson
  text: string | null
  officialapi_template_id: number | null
  coupon_code: string | null
  reservation_id: string | null
  claim_id: string | null
  claimed_at: NullableInstant
  called_at: NullableInstant
  attempts: Generated<number>
  provider_message_id: string | null
  failure_code: string | null
  skip_reason: string | null
  failure_reason: string | null
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  ended_at: NullableInstant
  converted_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface AutomationStepLogRow {
  store_id: StoreColumn
  run_id: string
  step_id: string
  automation_id: string
  flow_version: number | null
  type: string
  outcome: string | null
  entered_at: Instant
  left_at: NullableInstant
}

interface AutomationCouponsRow {
  store_id: StoreColumn
  run_id: string
  step_id: string
  code: string
  spec: Json
  amount: NullableNumeric
  ends_at: Instant
  is_made: Generated<boolean>
  created_at: Instant
}

interface AutomationTurnsRow {
  store_id: StoreColumn
  number_id: string
  at: Instant
  units: number
}

export interface AutomationTables {
  carts: CartsRow
  automations: AutomationsRow
  automation_flow_versions: AutomationFlowVersionsRow
  automation_runs: AutomationRunsRow
  automation_executions: AutomationExecutionsRow
  automation_step_log: AutomationStepLogRow
  automation_coupons: AutomationCouponsRow
  automation_turns: AutomationTurnsRow
}

export const automationTables: Record<keyof AutomationTables, 'store_id'> = {
  carts: 'store_id',
  automations: 'store_id',
  automation_flow_versions: 'store_id',
  automation_runs: 'store_id',
  automation_executions: 'store_id',
  automation_step_log: 'store_id',
  automation_coupons: 'store_id',
  automation_turns: 'store_id',
}
