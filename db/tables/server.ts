/** The server's own tables: settings, rate limit counters, job schedules, and stored answers by Idempotency-Key. */
import type { Generated } from 'kysely'
import type { Instant, Json, NullableJson, ServerPlacement, StoreColumn } from './columns.ts'

interface ServerSettingsRow {
  name: string
  value: Json
}

interface RateCountersRow {
  key: string
  started_at: Instant
  used: number
}

interface JobSchedulesRow {
  name: string
  next_at: Instant
}

interface IdempotencyKeysRow {
  store_id: StoreColumn
  key: string
  request_hash: string
  /** The request that holds the claim. */
  owner: string | null
  status: number | null
  body: string | null
  headers: NullableJson
  /** Whether a transaction of the request has committed without storing the answer. */
  has_written: Generated<boolean>
  /** When the claim was last renewed, by the database's clock. */
  claimed_at: Instant
  created_at: Instant
}

export interface ServerTables {
  idempotency_keys: IdempotencyKeysRow
}

export interface ServerSystemTables {
  server_settings: ServerSettingsRow
  rate_counters: RateCountersRow
  job_schedules: JobSchedulesRow
}

export const serverTables: Record<keyof ServerTables, 'store_id'> = {
  idempotency_keys: 'store_id',
}

export const serverSystemTables: Record<keyof ServerSystemTables, ServerPlacement> = {
  server_settings: 'coordinator',
  rate_counters: 'coordinator',
  job_schedules: 'coordinator',
}
