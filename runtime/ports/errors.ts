/**
 * Errors of providers. An adapter translates its provider's own errors into these classes, so that a caller can decide
 * by the class: report to the merchant (`Refused`), retry (`Unavailable`, `Throttled`), or first check whether the
 * request took effect (`Unavailable` with `accepted: 'unknown'`).
 */

type Cause = { cause?: unknown }

/** The provider refuses the request, and would refuse it again. `code` is kebab-case, `message` plain words. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string

  constructor(code: string, message: string, options?: Cause) {
    super(message, options)
    this.code = code
  }
}

/**
 * The provider did not answer, or does not work: timeouts, 5xx, wrong credentials. `accepted` says whether the request
 * may have taken effect. If `no`, the request can safely be repeated; if `unknown`, only with an idempotency key.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable'
  readonly accepted: 'no' | 'unknown'

  constructor(accepted: 'no' | 'unknown', message = 'The provider did not answer', options?: Cause) {
    super(message, options)
    this.accepted = accepted
  }
}

/**
 * Our access is gone (the app was uninstalled, access was revoked, a key is wrong). Nothing was done, and retrying does
 * not help until somebody acts. `code` is kebab-case; `remedy` says who can do what.
 */
export class AccessLost extends Unavailable {
  override readonly name: string = 'AccessLost'
  readonly code: string
  readonly remedy: string

  constructor(code: string, message: string, remedy: string, options?: Cause) {
    super('no', message, options)
    this.code = code
    this.remedy = remedy
  }
}

/** The provider's rate limit: nothing was done, and the request may be repeated after `retryAfterMs` milliseconds. */
export class Throttled extends Error {
  override readonly name: string = 'Throttled'
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, message = 'The provider asks to slow down', options?: Cause) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** A rate limit for this recipient only: other recipients can get messages meanwhile. */
export class RecipientThrottled extends Throttled {
  override readonly name = 'RecipientThrottled'
}

/** The sender's number has used up its sending limit; nothing was sent. */
export class NumberLimit extends Error {
  override readonly name = 'NumberLimit'

  constructor(message = 'The number has reached its sending limit', options?: Cause) {
    super(message, options)
  }
}
