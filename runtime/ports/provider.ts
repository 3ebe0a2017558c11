/** Types that all provider ports share. */
import type { PortName } from './ports.ts'

/** The connection of a store that a call uses, as it was when its row was read. */
export interface ConnectionRef {
  port: PortName
  /** Which of the store's phone numbers is connected; empty if the port allows only one connection. */
  part: string
  /** When the connection was created; identifies it, since a later connection has another instant. */
  connectedAt: Date | null
  /** Whether the connection was failing. If so, a successful call is a change that must be recorded. */
  isFailing: boolean
}

/** A store as an adapter sees it: its id and the decrypted credentials of its connection. */
export interface ProviderStore {
  id: string
  credentials: unknown
  /**
   * Renews credentials that expire. `change` gets the stored credentials and returns new ones, which `renew` stores and
   * returns. Over all processes, one renewal runs at a time; a concurrent caller waits and gets the credentials that
   * were stored meanwhile. Absent if no credentials are stored yet.
   */
  renew?: (change: (kept: unknown) => Promise<unknown>) => Promise<unknown>
  /** The connection; absent while credentials are being tried or removed, when no connection's health is affected. */
  connection?: ConnectionRef
}

/** An event of a provider, as it is stored in `provider_events`. */
export interface ProviderEvent {
  /** The key by which a repeated event is recognised. */
  key: string
  kind: string
  occurredAt: string
  /** The provider's id of the store, or null. */
  storeRef: string | null
  data: unknown
}

/** A precondition that an adapter's `check` has tested, such as a permission. The check changes nothing. */
export interface Precondition {
  /** A stable name in kebab-case. */
  code: string
  isFine: boolean
  /** True if the connection also works without it. */
  isOptional?: true
  /** The result of the test as a sentence. */
  message: string
  /** The remedy if the precondition is not met. */
  remedy?: string
}
