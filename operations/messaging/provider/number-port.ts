/** What a messaging provider does for the numbers of a store: linked by QR code, official, shared. */
import type { Readable } from 'node:stream'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'

export type QualityRating = 'green' | 'yellow' | 'red' | 'unknown'
export type NumberStatus = 'connected' | 'flagged' | 'restricted' | 'pending' | 'offline' | 'banned'
export type DisplayNameStatus = 'pending' | 'approved' | 'declined'

/** Why an official number cannot send, as far as its provider knows. */
export type NumberIssue =
  | 'token-expired'
  | 'number-removed'
  | 'account-restricted'
  | 'payment-issue'
  | 'display-name-declined'

export interface OfficialNumber {
  /** Kept sealed, and handed in again with every call. */
  credentials: unknown
  numberId: string
  accountId: string
  /** E.164. */
  phone: string
  displayName: string
  /** False while the provider still reviews number or name. */
  ready: boolean
}

/** What came back from a setup. */
export interface OfficialSetup {
  code: string
  /** The one that the setup was started with. */
  returnUrl: string
  startedAt?: Date
  /** What the merchant said where an earlier try asked them, or what the provider's page told who opened it. */
  answers?: { pin?: string; numberId?: string; accountId?: string }
  /** Accounts that the provider said were shared with us since the setup began, newest first. */
  sharedAccounts?: readonly string[]
  /**
   * Gets what the code was exchanged for at once: a code holds once, and whatever comes after may fail. It is handed in
   * again as the store's credentials with the same code.
   */
  keep?(granted: unknown): Promise<void>
  /** The PIN that a number had when it was last connected here. */
  pinOf?(numberId: string): Promise<string | null>
  /** Gets a PIN before the number does: where the answer is lost it may have it, and nobody else knows it. */
  keepPin?(numberId: string, pin: string): Promise<void>
}

/** The setup can go on once the merchant has said something; until then nothing is connected. */
export class SetupQuestion extends Refused {
  readonly field: 'pin' | 'numberId'
  /** Handed in again as the store's credentials with the answer: the code holds once. */
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
  /** E.164; empty where the provider would not say, as of a number that is gone. */
  phone: string
  displayName: string
  displayNameStatus: DisplayNameStatus | null
}

export interface NumberHealth {
  qualityRating: QualityRating
  numberStatus: NumberStatus
  /** `tier-250` to `tier-unlimited`. */
  messagingLimitTier: string
  /** Messages a second. */
  throughput: number
}

export interface NumberPort {
  /** The first of the codes that a phone scans; ends what was linked before. */
  startQr(store: ProviderStore): Promise<{ sessionRef: string; payload: string }>
  /** The session's next code. */
  refreshQr(store: ProviderStore, sessionRef: string): Promise<{ payload: string }>
  /** Logs the phone out; what is gone is success. */
  stopQr(store: ProviderStore): Promise<void>
  /** The page where the merchant proves to own a number; it comes back to `returnUrl` with `state`. */
  startOfficialSetup(
    store: ProviderStore,
    setup: { state: string; returnUrl: string },
  ): Promise<{ url: string }>
  /**
   * Exchanges the code, subscribes to callbacks and registers the number. Refuses a code that does not hold; what only the
   * merchant knows is a `SetupQuestion`.
   */
  finishOfficialSetup(store: ProviderStore, setup: OfficialSetup): Promise<OfficialNumber>
  /** The PIN of a connected number, which it is asked for when it is connected anew; null where it has none. */
  numberPin(store: ProviderStore): { numberId: string; pin: string } | null
  /** Has the messages from before the number was connected told by callbacks, where the provider has them. */
  requestHistory(store: ProviderStore): Promise<void>
  /** Also subscribes to callbacks again, where that was lost. Bad credentials are a state, not a failure. */
  officialState(store: ProviderStore): Promise<OfficialState>
  phoneHealth(store: ProviderStore): Promise<NumberHealth>
  /** Ends the callbacks; what is gone is success. */
  releaseOfficial(store: ProviderStore): Promise<void>
  joinShared(store: ProviderStore): Promise<{ numberId: string; phone: string; displayName: string }>
  leaveShared(store: ProviderStore): Promise<void>
  markRead(store: ProviderStore, message: { providerMessageId: string }): Promise<void>
  /** Refuses with `media-gone` what is not there (any more). */
  fetchMedia(
    store: ProviderStore,
    media: { mediaId: string },
  ): Promise<{ stream: Readable; contentType: string; size: number; fileName: string | null }>
  /** What was written and what became of messages, as the callbacks told it or should have. */
  history(
    store: ProviderStore,
    query: { since: Date; cursor?: string },
  ): Promise<{ supported: boolean; events: ProviderEvent[]; next: string | null }>
}

/** `data` of an event of kind `qr-session`. */
export interface QrSessionData {
  sessionRef: string
  event: 'scanned' | 'linked' | 'lost' | 'back' | 'logout' | 'replaced'
  /** Of `linked`. */
  numberId: string | null
  /** E.164; of `linked`. */
  phone: string | null
  name: string | null
}

/** `data` of an event of kind `number-health`: what is null was not told. */
export interface NumberHealthData {
  account: string
  /** E.164, where the provider names the number. */
  phone: string | null
  qualityRating: QualityRating | null
  numberStatus: NumberStatus | null
  messagingLimitTier: string | null
  /** Messages a second. */
  throughput: number | null
}

/** `data` of an event of kind `account-shared`: a merchant's account was shared with us in a setup. */
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

/** `data` of an event of kind `number-account`: trouble of the whole account, or its end. */
export interface NumberAccountData {
  account: string
  phone: string | null
  /** Null: it is well again, as far as this event goes. */
  issue: NumberIssue | null
}
