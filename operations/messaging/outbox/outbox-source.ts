/**
 * An outbox source is a section's table of messages (rule 10). The outbox handles claims, rate slots, recipient limits,
 * quota units, the ledger, opt-outs and statuses; a source declares its columns, describes each message, and updates
 * its own rows with each transition.
 */

import type { SelectQueryBuilder } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import type { OutboxFailure } from '../sending/codes.ts'
import type { Sender, SentMessage } from '../sending/deliver.ts'

export type Table = keyof TenantTables

/**
 * Why a message failed or is held. Each section adds its own codes to the shared ones.
 * @public
 */
export interface FailureCodes extends Record<OutboxFailure, true> {}
export type FailureCode = keyof FailureCodes

/** The common view of a message, independent of its table's column names. */
export interface MessageState {
  id: string
  /** Part of its idempotency key, `<kind>_<id>_<attempt>`. */
  attempt: number
  /** E.164. */
  phone: string | null
  email: string | null
  /** One of the source's `inFlightStatuses`, and one of `outcomes` afterwards. */
  status: string
  code: FailureCode | null
  /** Human-readable explanation of `code`. */
  reason: string | null
  providerMessageId: string | null
  reservationId: string | null
  /** When the message was sent; null if it never was. For an indeterminate outcome, the time of the call. */
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  /** Time of a call whose outcome is unknown; null if the provider certainly does not have the message. */
  calledAt: Date | null
}

/** A column of a source's table, with its SQL type. The outbox only reads a column without a type. */
type Column<T extends Table> = readonly [name: keyof TenantTables[T] & string, type?: string]

/** The usual column names. */
export const defaultColumns = {
  id: ['id', 'uuid'],
  phone: ['phone'],
  status: ['status', 'text'],
  providerMessageId: ['provider_message_id', 'text'],
  reservationId: ['reservation_id', 'uuid'],
  sentAt: ['sent_at', 'timestamptz'],
  deliveredAt: ['delivered_at', 'timestamptz'],
  readAt: ['read_at', 'timestamptz'],
  failedAt: ['failed_at', 'timestamptz'],
  calledAt: ['called_at', 'timestamptz'],
} as const

/** Requires a source to map the default columns that its table lacks. */
export interface RequiredColumns<T extends Table, U> {
  columns: { readonly [F in keyof U as U[F] extends Column<T> ? never : F]: Column<T> | null }
}

/** A temporary reason for which a message was certainly not accepted: it may be sent later. */
export type RequeueReason =
  /** `isOfRecipient`: other recipients are not throttled. */
  | { reason: 'throttled'; afterMs: number; isOfRecipient?: true }
  /** `isDown`: the connection fails, not this message. `until`: no message is tried before this time. */
  | { reason: 'provider-unavailable'; isDown?: true; until?: Date }
  | { reason: 'number-limit' | 'disconnected' }

export interface Transition<Row extends MessageState = MessageState> {
  before: Row
  after: Row
}

/** Details of a sent message. `via`: the connection, if it differs from the source's. */
export type SentDetails = Omit<
  SentMessage,
  'messageId' | 'phone' | 'providerMessageId' | 'sentAt' | 'isKnown'
>

type Messages<T extends Table> = SelectQueryBuilder<TenantTables & { m: TenantTables[T] }, 'm', object>

export interface OutboxSource<Row extends MessageState = MessageState, T extends Table = Table>
  extends Pick<Sender, 'messageSource' | 'external'> {
  /** Prefix of its idempotency keys. */
  kind: string
  table: T
  /** Columns that differ from `defaultColumns`, and additional ones; null if the table does not have the column. */
  columns: Readonly<Partial<Record<keyof Row & string, Column<T> | null>>>
  /** Values of `status` while a message is being sent. */
  inFlightStatuses: readonly string[]
  /**
   * Values of `status` while a message has its quota unit and is not claimed yet. A message that returns to such a
   * status keeps its unit.
   */
  pendingStatuses?: readonly string[]
  /** Columns of a claim, set to null when it ends. */
  claimColumns: readonly (keyof TenantTables[T] & string)[]
  /** Fields that are reset once a message was sent or has failed. */
  clearedOnEnd?: Readonly<Partial<Row>>
  /** Replaces status names in tables that do not distinguish `delivered` and `read`. */
  statusNames?: Readonly<Partial<Record<'sent' | 'delivered' | 'read' | 'failed', string>>>
  /** Maps codes to the fewer ones that the section stores. Its own codes and `unknown-outcome` stay as they are. */
  toStoredCode?(code: FailureCode): FailureCode
  /** Always uses the official number. */
  via?: 'official'
  /** Joins the other tables of a row to its messages (`m`). */
  join?(messages: Messages<T>): unknown
  /**
   * For sources that claim in batches: returns the new row of a message that was certainly not accepted. `because` is
   * null if the provider was never called.
   */
  requeue?(tx: Context, row: Row, because: RequeueReason | null): Row
  /** Queues the job of a message that waited for a number. Not needed if the source is swept every minute. */
  wake?(tx: Context, id: string): Promise<unknown>
  /** Locks the parent rows of messages, such as a campaign, which are always locked before the messages. */
  lockParents?(tx: Context, ids: readonly string[]): Promise<void>
  /** Details of a sent message for the ledger, the touch and the inbox. */
  describeSent(row: Row): SentDetails
  /** Whether the ledger may already contain the message, from an earlier attempt. */
  isRepeated?(row: Row): boolean
  /** The campaign to record with an opt-out. */
  getCampaignId?(row: Row): string
  /** Updates the section's own rows (counters, notes, follow-ups) in the same transaction. */
  onTransitions?(tx: Context, transitions: readonly Transition<Row>[]): Promise<void>
}

export const isInFlight = <Row extends MessageState>(
  { inFlightStatuses }: OutboxSource<Row>,
  { status }: Row,
): boolean => inFlightStatuses.includes(status)

export const buildKey = (
  { kind }: Pick<OutboxSource, 'kind'>,
  { id, attempt }: Pick<MessageState, 'id' | 'attempt'>,
): string => `${kind}_${id}_${attempt}`

/** A claim without a heartbeat for this long belongs to a dead worker. */
export const deadAfterMs = 2 * minuteMs
/** After this long without a status event the outcome stays indeterminate. */
export const indeterminateAfterMs = 10 * minuteMs
