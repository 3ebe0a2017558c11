/** The message quota of each cycle. Units are reserved before a message is sent, and recorded as used afterwards. */
import type { Generated } from 'kysely'
import type { FailedAs, Instant, NullableInstant, StoreColumn } from './columns.ts'

interface UsageCyclesRow {
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

interface UsageReservationsRow {
  store_id: StoreColumn
  id: string
  cycle_starts_at: Instant
  source: string
  units: number
  created_at: Instant
  updated_at: Instant
}

interface MessageLedgerRow {
  store_id: StoreColumn
  message_id: string
  channel: string
  source: string
  source_id: string | null
  phone_key: string | null
  email: string | null
  provider_message_id: string | null
  status: string
  failure_code: FailedAs | null
  cycle_starts_at: NullableInstant
  sent_at: Instant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
}

export interface QuotaTables {
  usage_cycles: UsageCyclesRow
  usage_reservations: UsageReservationsRow
  message_ledger: MessageLedgerRow
}

export const quotaTables: Record<keyof QuotaTables, 'store_id'> = {
  usage_cycles: 'store_id',
  usage_reservations: 'store_id',
  message_ledger: 'store_id',
}
