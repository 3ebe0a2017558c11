/** What providers told us: stored once, applied by the job `provider-event-apply`. */
import type { Context, SystemContext } from '#runtime/context'
import type { ProviderEvent } from '#runtime/ports/provider'

export interface IncomingEvent extends ProviderEvent {
  /** The store it is for, or null when only applying it can tell. */
  storeId: string | null
}

/** Stores events and queues their job in one transaction; those known already are passed over. */
export async function accept(
  _ctx: SystemContext,
  _port: string,
  _provider: string,
  _events: IncomingEvent[],
): Promise<void> {
  throw new Error('being written')
}

export interface StoredEvent {
  id: string
  key: string
  provider: string
  occurredAt: Date
  data: unknown
}

type Listener = (ctx: Context, events: StoredEvent[]) => Promise<void>
const listeners = new Map<string, Listener[]>()

/** Registers what applies events of a port and kind; called in a transaction that also marks them applied, with all events of one store and kind that are due, oldest first. */
export function on(port: string, kind: string, listener: Listener): void {
  const key = `${port}:${kind}`
  listeners.set(key, [...(listeners.get(key) ?? []), listener])
}
export const listenersOf = (port: string, kind: string): readonly Listener[] =>
  listeners.get(`${port}:${kind}`) ?? []
