/**
 * A lane: whose messages leave, and what its section makes of what became of them (rule 10). The engine knows claims,
 * turns of a number, limits of recipients, units, the ledger, opt-outs and statuses; a lane says where its rows are, what
 * each message is about, and what moves with it.
 */

import type { SelectQueryBuilder } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import type { LaneFailure } from '../sending/codes.ts'
import type { Sender, SentMessage } from '../sending/deliver.ts'

export type Table = keyof TenantTables

/**
 * Why a message failed or stayed: what sections say beside the shared ones, each adds.
 * @public
 */
export interface Codes extends Record<LaneFailure, true> {}
export type Code = keyof Codes

/** A message as the engine sees it, whatever its table calls it. */
export interface Standing {
  id: string
  /** Of the key that it leaves under, `<kind>_<id>_<attempt>`. */
  attempt: number
  /** E.164. */
  phone: string | null
  email: string | null
  /** The lane's own word while it is on its way (`leaving`), and one of `outcomes` afterwards. */
  status: string
  /** Why it failed. */
  code: Code | null
  /** The same in a sentence. */
  reason: string | null
  providerMessageId: string | null
  reservationId: string | null
  /** When it was handed over, for all that is known; null: it never left. */
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  /** Since when it may be with the provider, while nobody knows; null: it certainly is not. */
  calledAt: Date | null
}

/** A column of a lane's table, with its SQL type; without one it is read and never written. */
type Column<T extends Table> = readonly [name: keyof TenantTables[T] & string, type?: string]

/** What most lanes call the fields of a row. */
export const usualColumns = {
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

/** Those of `usual` that the table does not have: its lane has to say what it calls them. */
export interface Saying<T extends Table, U> {
  columns: { readonly [F in keyof U as U[F] extends Column<T> ? never : F]: Column<T> | null }
}

/** Why it certainly did not leave, though nothing is wrong with the recipient: it may leave later. */
export type Trouble =
  /** `isOfRecipient`: others may be written to meanwhile. */
  | { reason: 'throttled'; afterMs: number; isOfRecipient?: true }
  /** `isDown`: it is the connection, not this message, that is in trouble; `until`: nothing is to be tried before. */
  | { reason: 'provider-unavailable'; isDown?: true; until?: Date }
  | { reason: 'number-limit' | 'disconnected' }

/** Where a message stood, and where it stands. */
export interface Move<Row extends Standing = Standing> {
  before: Row
  after: Row
}

/** `via`: where a message leaves by another number than the lane's others. */
export type Departing = Omit<SentMessage, 'messageId' | 'phone' | 'providerMessageId' | 'sentAt' | 'isKnown'>

type Messages<T extends Table> = SelectQueryBuilder<TenantTables & { m: TenantTables[T] }, 'm', object>

export interface Lane<Row extends Standing = Standing, T extends Table = Table>
  extends Pick<Sender, 'source' | 'elsewhere'> {
  /** The first part of its keys. */
  kind: string
  table: T
  /** What is not called as usual, or is had besides; null: the table itself does not have it. */
  columns: Readonly<Partial<Record<keyof Row & string, Column<T> | null>>>
  /** What the row of a message that is on its way has in `status`. */
  leaving: readonly string[]
  /** The same of one that has its unit and waits to be claimed: going back there keeps it. */
  waiting?: readonly string[]
  /** Columns that are of a claim: null as soon as it has ended. */
  claim: readonly (keyof TenantTables[T] & string)[]
  /** What the row of a message that has left or failed no longer says. */
  ended?: Readonly<Partial<Row>>
  /** How `delivered` and `read` stand in `status` where the section does not tell them apart. */
  shown?: Readonly<Partial<Record<'sent' | 'delivered' | 'read' | 'failed', string>>>
  /** The same of codes as they are written, where its pages know fewer; its own, and `unknown-outcome`, stay as they are. */
  codeOf?(code: Code): Code
  /** The official number, whatever is selected. */
  via?: 'official'
  /** Joins to its rows (`m`) what else a row has. */
  joined?(messages: Messages<T>): unknown
  /**
   * How a message stands that certainly was not taken, of a lane whose messages are claimed in batches. `because`: null
   * where it was never called.
   */
  requeued?(tx: Context, row: Row, because: Trouble | null): Row
  /** Queues the look at one that waited for a number; a lane whose messages are swept each minute has none. */
  woken?(tx: Context, id: string): Promise<unknown>
  /** Locks what is always locked before a message. */
  hold?(tx: Context, ids: readonly string[]): Promise<void>
  /** What the ledger, the touch and the inbox are told of one that left. */
  departing(row: Row): Departing
  /** Whether the ledger may have it already, from an earlier attempt. */
  isRepeated?(row: Row): boolean
  /** The campaign that an opt-out is noted with. */
  campaignOf?(row: Row): string
  /** The section's own rows, in the same transaction: counters, what follows, notes. */
  moved?(tx: Context, moves: readonly Move<Row>[]): Promise<void>
}

export const isLeaving = <Row extends Standing>({ leaving }: Lane<Row>, { status }: Row): boolean =>
  leaving.includes(status)

export const keyOf = (
  { kind }: Pick<Lane, 'kind'>,
  { id, attempt }: Pick<Standing, 'id' | 'attempt'>,
): string => `${kind}_${id}_${attempt}`

/** A holder that was not heard of for so long is dead. */
export const deadAfterMs = 2 * minuteMs
/** Without a word of it for so long, nobody will know whether a message left. */
export const lostAfterMs = 10 * minuteMs
