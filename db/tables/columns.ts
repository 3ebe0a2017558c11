/** Column types, as both drivers read and write them. */
import type { ColumnType } from 'kysely'

/**
 * The distribution of a server table on a cluster: on every node, for rows that are joined with stores' rows; or on
 * the coordinator only. Tables of stores are sharded by store.
 */
export type ServerPlacement = 'everywhere' | 'coordinator'

/** Filled in and compared by tenant isolation. */
export type StoreColumn = ColumnType<string, string | undefined, never>
export type Instant = ColumnType<Date, Date | string, Date | string>
export type NullableInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** Written as JSON text (`JSON.stringify`), read as a value: both drivers agree on that. */
export type Json = ColumnType<unknown, string, string>
export type DefaultJson = ColumnType<unknown, string | undefined, string>
export type NullableJson = ColumnType<unknown, string | null | undefined, string | null>
/** numeric(14,2) as decimal text: money never becomes a float on its way. */
export type Numeric = ColumnType<string, string | number, string | number>
export type DefaultNumeric = ColumnType<string, string | number | undefined, string | number>
export type NullableNumeric = ColumnType<
  string | null,
  string | number | null | undefined,
  string | number | null
>
/** Why a message was not sent or delivered, as the sending sections classify it. */
export type FailedAs =
  | 'not-on-network'
  | 'undelivered'
  | 'window-closed'
  | 'template-refused'
  | 'media-refused'
  | 'frequency-capped'
  | 'recipient-stopped'
  | 'too-long'
  | 'provider-error'
  | 'subscription-inactive'
  | 'number-limit'
  | 'disconnected'
  | 'unknown-outcome'
