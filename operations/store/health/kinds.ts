/** What each port's section says of its connections: how they are asked, and what follows from how they stand. */
import type { Context, SystemContext } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'
import type { Finding } from '#runtime/ports/provider'
import type { State } from './machine.ts'

/** In the order in which they are checked. */
export const portNames = [
  'ecommerce',
  'messaging',
  'mailingList',
  'billing',
  'mail',
  'storage',
] as const satisfies PortName[]
/** Ports that stores have connections of. */
export type ConnectedPort = 'ecommerce' | 'messaging' | 'mailingList'
/** Ports of the server's own providers. */
export type ServerPort = Exclude<PortName, ConnectedPort>

/** One connection as `npm run store -- check` found it. */
export interface Checked {
  port: PortName
  /** Which of the store's numbers; empty where a port has one connection. */
  part: string
  /** Null: nothing is connected. */
  provider: string | null
  findings: Finding[]
}

interface Moved {
  part: string
  before: State
  after: State
}

/** Of a store's own connections. */
export interface ConnectionKind {
  /** What it is to a merchant, within a sentence. */
  name(part: string): string
  /** Since when this connection is the one that it is; undefined where nothing is connected. */
  current(tx: Context, part: string): Promise<Date | null | undefined>
  /** The cheapest call that shows whether access holds: its outcome is heard like any other. Not inside a transaction. */
  probe(ctx: Context, part: string): Promise<unknown>
  /** Asks the provider what is missing; changes nothing, and is heard by nobody. Not inside a transaction. */
  check(ctx: Context): Promise<Checked[]>
  /** In the transaction in which it moved. */
  moved?(tx: Context, moved: Moved): Promise<unknown>
  /** Those whose losses the section tells of itself. */
  tellsItself?: readonly string[]
}

/** Of the server's own providers. */
export interface ServerKind {
  probe?(system: Pick<SystemContext, 'adapters' | 'settings'>, provider: string): Promise<unknown>
  check(ctx: Context): Promise<Checked[]>
}
