/** What every provider port speaks of. */
import type { PortName } from './ports.ts'

/** Which of a store's connections a call goes over, as its row stood when it was read. */
export interface ConnectionRef {
  port: PortName
  /** Which of the store's numbers; empty where a port has one connection. */
  part: string
  /** Another connection has another instant. */
  connectedAt: Date | null
  /** Whether something was wrong with it: then a call that succeeds is news. */
  isTroubled: boolean
}

/** A store as an adapter sees it: its id and the credentials of its connection, unsealed. */
export interface ProviderStore {
  id: string
  credentials: unknown
  /**
   * For credentials that run out: `change` gets those that are kept now and answers those to keep, and what is kept then
   * is answered. One at a time over all processes; whoever comes meanwhile waits, and gets what the other one kept.
   * Left out where nothing is kept yet.
   */
  renew?: (change: (kept: unknown) => Promise<unknown>) => Promise<unknown>
  /** Left out: credentials that are being tried, or let go; what becomes of them says nothing of a connection. */
  connection?: ConnectionRef
}

/** Something a provider told us, as it is stored in `provider_events`. */
export interface ProviderEvent {
  /** The same event twice has the same key. */
  key: string
  kind: string
  occurredAt: string
  /** The provider's own name for the store, or null. */
  storeRef: string | null
  data: unknown
}

/** One thing that a connection needs, as `check` of an adapter found it; it changes nothing. */
export interface Finding {
  /** Kebab-case, the same each time. */
  code: string
  isFine: boolean
  /** What was found, in a sentence. */
  message: string
  /** What to do about it, where it is not fine. */
  remedy?: string
}
