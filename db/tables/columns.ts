/** The types of columns, which both drivers read and write in the same way. */
import type { ColumnType } from 'kysely'

/**
 * The place of a system table on a cluster: on every node, if its rows are joined with rows of stores; or only on the
 * coordinator. Tenant tables are sharded by store instead.
 */
export type ServerPlacement = 'everywhere' | 'coordinator'

/** The store's id, which tenant isolation fills in and compares. */
export type StoreColumn = ColumnType<string, string | undefined, never>
export type Instant = ColumnType<Date, Date | string, Date | string>
export type NullableInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** JSON that is written as text (`JSON.stringify`) and read as a value. */
export type Json = ColumnType<unknown, string, string>
export type DefaultJson = ColumnType<unknown, string | undefined, string>
export type NullableJson = ColumnType<unknown, string | null | undefined, string | null>
/** numeric(14,2), read as decimal text, so that money never becomes a float. */
export type Numeric = ColumnType<string, string | number, string | number>
export type DefaultNumeric = ColumnType<string, string | number | undefined, string | number>
export type NullableNumeric = ColumnType<
  string | null,
  string | number | null | undefined,
  string | number | null
>
/** Why a message was not sent or delivered, in the classification that all sending sections share. */
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
