/** The part of the messaging port for a store's numbers: linked by QR code, official, shared. */
import type { Readable } from 'node:stream'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'

export type QualityRating = 'green' | 'yellow' | 'red' | 'unknown'
export type NumberStatus = 'connected' | 'flagged' | 'restricted' | 'pending' | 'offline' | 'banned'
export type DisplayNameStatus = 'pending' | 'approved' | 'declined'

/** Why an official number cannot send, as reported by its provider. */
export type NumberIssue =
  | 'token-expired'
  | 'number-removed'
  | 'account-restricted'
  | 'payment-issue'
  | 'display-name-declined'

export interface OfficialNumber {
  /** Stored encrypted, and passed with every call. */
  credentials: unknown
  numberId: string
  accountId: string
  /** E.164. */
  phone: string
  displayName: string
  /** False while the provider reviews the number or its name. */
  ready: boolean
}

/** The result of a setup. */
export interface OfficialSetup {
  code: string
  /** As passed when the setup started. */
  returnUrl: string
  startedAt?: Date
  /**
   * The merchant's answers to questions of an earlier try, or what the provider's page reported to the window that
   * opened it.
   */
  answers?: { pin?: string; numberId?: string; accountId?: string }
  /** Accounts that the provider reported as shared with us since the setup began, newest first. */
  sharedAccounts?: readonly string[]
  /**
   * Saves the result of the code exchange at once: a code works only once, and later steps may fail. It is passed back
   * as the store's credentials with the same code.
   */
  saveGrant?(granted: unknown): Promise<void>
  /** The PIN that a number had when it was last connected here. */
  findPin?(numberId: string): Promise<string | null>
  /** Saves a PIN before it is set: if the provider's response is lost, the number may have a PIN that nobody else knows. */
  savePin?(numberId: string, pin: string): Promise<void>
}

/** The setup needs an answer from the merchant; nothing is connected before. */
export class SetupQuestion extends Refused {
  readonly field: 'pin' | 'numberId'
  /** Passed back as the store's credentials with the merchant's answer, because the code works only once. */
  readonly granted: unknown
  readonly choices: readonly { value: string; label: string }[]

  constructor(
    field: 'pin' | 'numberId',
    message: string,
    asked: { granted: unknown; choices: readonly { value: string; label: string }[] },
  ) {
    super(`${field}-needed`, message)
    this.field = field
    this.granted = asked.granted
    this.choices = asked.choices
  }
}

export interface OfficialState {
  status: 'connected' | 'verifying' | 'error'
  issue: NumberIssue | null
  /** E.164; empty if the provider does not report it, for example of a deleted number. */
  phone: string
  displayName: string
  displayNameStatus: DisplayNameStatus | null
}

export interface NumberHealth {
  qualityRating: QualityRating
  numberStatus: NumberStatus
  /** `tier-250` to `tier-unlimited`. */
  messagingLimitTier: string
  /** Messages per second. */
  throughput: number
}

export interface NumberPort {
  /** Starts a session and returns its first QR code. Ends the previous session. */
  startQr(store: ProviderStore): Promise<{ sessionRef: string; payload: string }>
  /** Returns the session's next QR code. */
  refreshQr(store: ProviderStore, sessionRef: string): Promise<{ payload: string }>
  /** Logs the phone out; succeeds if it is logged out already. */
  stopQr(store: ProviderStore): Promise<void>
  /** Returns the page where the merchant proves ownership of a number; the page redirects to `returnUrl` with `state`. */
  startOfficialSetup(
    store: ProviderStore,
    setup: { state: string; returnUrl: string },
  ): Promise<{ url: string }>
  /**
   * Exchanges the code, subscribes to callbacks and registers the number. Refuses an invalid code; throws a
   * `SetupQuestion` if the merchant has to answer one.
   */
  finishOfficialSetup(store: ProviderStore, setup: OfficialSetup): Promise<OfficialNumber>
  /** The PIN of a connected number, required to connect it again; null if it has none. */
  numberPin(store: ProviderStore): { numberId: string; pin: string } | null
  /** Requests the messages from before the number was connected, if the provider has them; they arrive as callbacks. */
  requestHistory(store: ProviderStore): Promise<void>
  /** Reads the number's state and renews a lost subscription to callbacks. Bad credentials are a state, not an error. */
  officialState(store: ProviderStore): Promise<OfficialState>
  phoneHealth(store: ProviderStore): Promise<NumberHealth>
  /** Ends the subscription to callbacks; succeeds if the number no longer exists. */
  releaseOfficial(store: ProviderStore): Promise<void>
  joinShared(store: ProviderStore): Promise<{ numberId: string; phone: string; displayName: string }>
  leaveShared(store: ProviderStore): Promise<void>
  markRead(store: ProviderStore, message: { providerMessageId: string }): Promise<void>
  /** Refuses with `media-gone` if it does not exist (any more). */
  fetchMedia(
    store: ProviderStore,
    media: { mediaId: string },
  ): Promise<{ stream: Readable; contentType: string; size: number; fileName: string | null }>
  /** Lists messages and status events, including those whose callback was lost. */
  history(
    store: ProviderStore,
    query: { since: Date; cursor?: string },
  ): Promise<{ supported: boolean; events: ProviderEvent[]; next: string | null }>
}

/** `data` of an event of kind `qr-session`. */
export interface QrSessionData {
  sessionRef: string
  event: 'scanned' | 'linked' | 'lost' | 'back' | 'logout' | 'replaced'
  /** Set for `linked`. */
  numberId: string | null
  /** E.164; set for `linked`. */
  phone: string | null
  name: string | null
}

/** `data` of an event of kind `number-health`. A field is null if the provider did not report it. */
export interface NumberHealthData {
  account: string
  /** E.164, if the provider names the number. */
  phone: string | null
  qualityRating: QualityRating | null
  numberStatus: NumberStatus | null
  messagingLimitTier: string | null
  /** Messages per second. */
  throughput: number | null
}

/** `data` of an event of kind `account-shared`: a merchant shared an account with us in a setup. */
export interface AccountSharedData {
  account: string
}

/** `data` of an event of kind `number-name`. */
export interface NumberNameData {
  account: string
  phone: string | null
  displayName: string | null
  status: DisplayNameStatus
}

/** `data` of an event of kind `number-warning`: what will stop the account unless the merchant acts. */
export interface NumberWarningData {
  account: string
  phone: string | null
  warning: 'violation' | 'scheduled-ban'
  /** The provider's word for the violation, or for the day of the ban; null if it names none. */
  detail: string | null
}

/** `data` of an event of kind `number-account`: an issue of the whole account, or its end. */
export interface NumberAccountData {
  account: string
  phone: string | null
  /** Null if this event reports the issue as resolved. */
  issue: NumberIssue | null
}
