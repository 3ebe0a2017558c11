/** Each section declares its connections: how to probe and check them, and how to react to a change of state. */
import type { Context, SystemContext } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'
import type { Precondition } from '#runtime/ports/provider'
import type { State } from './state-machine.ts'

/** In the order of the checks. */
export const portNames = [
  'ecommerce',
  'messaging',
  'mailingList',
  'billing',
  'mail',
  'storage',
] as const satisfies PortName[]
/** Ports to which stores have connections. */
export type ConnectedPort = 'ecommerce' | 'messaging' | 'mailingList'
/** Ports of the server's own providers. */
export type ServerPort = Exclude<PortName, ConnectedPort>

/** The result of `npm run store -- check` for one connection. */
export interface ConnectionCheck {
  port: PortName
  /** Which of the store's numbers; empty if the port has only one connection. */
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

/** Connections of stores. */
export interface ConnectionKind {
  /** The merchant's name for it, within a sentence. */
  name(part: string): string
  /** When it was connected, which identifies the connection; undefined if nothing is connected. */
  connectedAt(tx: Context, part: string): Promise<Date | null | undefined>
  /** The cheapest call that proves our access. Its outcome is recorded like any other. Not inside a transaction. */
  probe(ctx: Context, part: string): Promise<unknown>
  /** Diagnoses the connection; changes nothing, and its outcome is not recorded. Not inside a transaction. */
  check(ctx: Context): Promise<ConnectionCheck[]>
  /** Runs in the transaction that changed the state. */
  stateChanged?(tx: Context, moved: StateChange): Promise<unknown>
  /** Parts for which the section sends its own notifications. */
  notifiesItself?: readonly string[]
}

/** The server's own providers. */
export interface ServerKind {
  probe?(system: Pick<SystemContext, 'adapters' | 'settings'>, provider: string): Promise<unknown>
  check(ctx: Context): Promise<ConnectionCheck[]>
}
