/** Types with which a section declares its connections: how to probe and check them, and how to react to a state change. */
import type { Context, SystemContext } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'
import type { Precondition } from '#runtime/ports/provider'
import type { State } from './state-machine.ts'

/** All ports, in the order in which they are checked. */
export const portNames = [
  'ecommerce',
  'messaging',
  'mailingList',
  'billing',
  'mail',
  'storage',
] as const satisfies PortName[]
/** Ports for which a store connects its own provider. */
export type ConnectedPort = 'ecommerce' | 'messaging' | 'mailingList'
/** Ports for which the server has one provider for all stores. */
export type ServerPort = Exclude<PortName, ConnectedPort>

/** The result of `npm run store -- check` for one connection. */
export interface ConnectionCheck {
  port: PortName
  /** Which of the store's phone numbers; empty if the port has only one connection. */
  part: string
  /** Null if nothing is connected. */
  provider: string | null
  findings: Precondition[]
}

interface StateChange {
  part: string
  before: State
  after: State
}

/** Declares the connections of stores to providers of one port. */
export interface ConnectionKind {
  /** The merchant's name for the connection, to be used within a sentence. */
  name(part: string): string
  /** When the connection was made, which identifies it; undefined if nothing is connected. */
  connectedAt(tx: Context, part: string): Promise<Date | null | undefined>
  /**
   * Makes the cheapest call that proves our access. Its outcome is recorded like that of any call. Not called inside a
   * transaction.
   */
  probe(ctx: Context, part: string): Promise<unknown>
  /** Diagnoses the connection. Changes nothing, and its outcome is not recorded. Not called inside a transaction. */
  check(ctx: Context): Promise<ConnectionCheck[]>
  /** Runs in the transaction that changed the state. */
  stateChanged?(tx: Context, moved: StateChange): Promise<unknown>
  /** Parts for which the section sends its own notifications. */
  notifiesItself?: readonly string[]
}

/** Declares the server's own provider of one port. */
export interface ServerKind {
  probe?(system: Pick<SystemContext, 'adapters' | 'settings'>, provider: string): Promise<unknown>
  check(ctx: Context): Promise<ConnectionCheck[]>
}
