/** Message quota: one conditional update decides, so two sends at the last unit never both pass (Rules 7). */
import type { Context } from '#runtime/context'

export type MessageSource =
  | 'automation'
  | 'messaging-campaign'
  | 'newsletter'
  | 'stock-notification'
  | 'review-request'
  | 'exchange'
  | 'inbox'
  | 'direct'

export interface LedgerRow {
  /** Unique in the store: a second commit of it counts nothing. */
  messageId: string
  channel: 'messaging' | 'email'
  source: MessageSource
  sourceId: string | null
  phone: string | null
  email: string | null
  providerMessageId: string | null
  /** `failed` for an unknown outcome, which counts too. */
  status: 'sent' | 'failed'
  sentAt: Date
}

/** Takes `units` of the cycle that holds now. Throws `forbidden` naming what is asked and what is left; takes nothing then. Answers the reservation's id. */
export async function reserve(_ctx: Context, _units: number, _source: MessageSource): Promise<string> {
  throw new Error('being written')
}

/** Brings a reservation to `units`; throws `forbidden` when the cycle has not that many. */
export async function resize(_ctx: Context, _reservationId: string, _units: number): Promise<void> {
  throw new Error('being written')
}

/** The provider accepted: reserved − 1 and used + 1 for each row that is new, and its ledger row. */
export async function commit(_ctx: Context, _reservationId: string, _rows: LedgerRow[]): Promise<void> {
  throw new Error('being written')
}

/** Emails: ledger rows alone. */
export async function record(_ctx: Context, _rows: LedgerRow[]): Promise<void> {
  throw new Error('being written')
}

/** Gives back units that never left. */
export async function release(_ctx: Context, _reservationId: string, _units: number): Promise<void> {
  throw new Error('being written')
}

export interface StatusChange {
  messageId: string
  status: 'delivered' | 'read' | 'failed'
  at: Date
  failureCode?: string | null
}

/** What became of messages; only moves forward. */
export async function status(_ctx: Context, _changes: StatusChange[]): Promise<void> {
  throw new Error('being written')
}

/** Limit, used and reserved of the cycle that holds now. */
export async function usage(
  _ctx: Context,
): Promise<{ limit: number; used: number; reserved: number; remaining: number }> {
  throw new Error('being written')
}
