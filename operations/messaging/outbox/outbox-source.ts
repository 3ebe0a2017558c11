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
  /** When it was dispatched; null if it never left. For an indeterminate outcome, the time of the call. */
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  /** Set while the outcome of a call is unknown; null: it is certainly not with the provider. */
  calledAt: Date | null
}

/** A column of a source's table, with its SQL type. Without a type it is only read. */
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

/** The default columns that the table lacks: its source has to map them. */
export interface RequiredColumns<T extends Table, U> {
  columns: { readonly [F in keyof U as U[F] extends Column<T> ? never : F]: Column<T> | null }
}

/** Why a message was certainly not accepted though the recipient is fine: it may be sent later. */
export type RequeueReason =
  /** `isOfRecipient`: other recipients are not throttled. */
  | { reason: 'throttled'; afterMs: number; isOfRecipient?: true }
  /** `isDown`: the connection fails, not this message. `until`: nothing is tried before. */
  | { reason: 'provider-unavailable'; isDown?: true; until?: Date }
  | { reason: 'number-limit' | 'disconnected' }

export interface Transition<Row extends MessageState = MessageState> {
  before: Row
  after: Row
}

/** `via`: the number, if it differs from the source's. */
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
  /** Columns that differ from `defaultColumns`, and additional ones; null: the table itself does not have it. */
  columns: Readonly<Partial<Record<keyof Row & string, Column<T> | null>>>
  /** Values of `status` while a message is being sent. */
  inFlightStatuses: readonly string[]
  /** Values of `status` while a message has its quota unit and is not claimed yet. Returning to one keeps the unit. */
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
   * The row after a message was certainly not accepted, for sources that claim in batches. `because`: null if it was
   * never called.
   */
  requeue?(tx: Context, row: Row, because: RequeueReason | null): Row
  /** Queues the job of a message that waited for a number. Not needed if the source is swept every minute. */
  wake?(tx: Context, id: string): Promise<unknown>
  /** Locks the rows that are always locked before a message. */
  lockParents?(tx: Context, ids: readonly string[]): Promise<void>
  /** Details of a sent message for the ledger, the touch and the inbox. */
  describeSent(row: Row): SentDetails
  /** Whether the ledger may already contain it, from an earlier attempt. */
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
