/** Types that all provider ports share. */
import type { PortName } from './ports.ts'

/** The connection of a store that a call uses, as its row was when it was read. */
export interface ConnectionRef {
  port: PortName
  /** Which of the store's numbers; empty if the port has one connection. */
  part: string
  /** Another connection has another instant. */
  connectedAt: Date | null
  /** Whether it was failing: then a successful call is a change. */
  isFailing: boolean
}

/** A store as an adapter sees it: its id and the decrypted credentials of its connection. */
export interface ProviderStore {
  id: string
  credentials: unknown
  /**
   * Renews credentials that expire: `change` gets the stored ones and returns those to store, which `renew` returns.
   * One at a time over all processes; a concurrent caller waits and gets the credentials that were stored meanwhile.
   * Absent if nothing is stored yet.
   */
  renew?: (change: (kept: unknown) => Promise<unknown>) => Promise<unknown>
  /** Absent for credentials that are being tried or removed: their outcome does not concern a connection. */
  connection?: ConnectionRef
}

/** An event of a provider, as it is stored in `provider_events`. */
export interface ProviderEvent {
  /** Deduplicates events: the same event twice has the same key. */
  key: string
  kind: string
  occurredAt: string
  /** The provider's own name for the store, or null. */
  storeRef: string | null
  data: unknown
}

/** One precondition of a connection, as an adapter's `check` found it; the check changes nothing. */
export interface Precondition {
  /** Kebab-case, stable. */
  code: string
  isFine: boolean
  /** The result, as a sentence. */
  message: string
  /** The remedy, if it is not met. */
  remedy?: string
}
