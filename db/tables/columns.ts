/** Kinds of columns, as each driver reads and writes them. */
import type { ColumnType } from 'kysely'

/**
 * Where a table of the server's own lies in a distributed database: on every node, for what rows of stores are joined
 * with; or on the coordinator alone. Tables of stores lie with their store.
 */
export type ServerPlace = 'everywhere' | 'coordinator'

/** The wall fills it in and compares it. */
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
/** Why a message did not leave or arrive, as the sections that send decide it. */
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
