/**
 * Errors of providers. Adapters translate their provider's own errors into these, so that a caller decides by kind:
 * tell the merchant (Refused), retry (Unavailable, Throttled), or check whether it happened after all (Unavailable
 * with `accepted: 'unknown'`).
 */

type Cause = { cause?: unknown }

/** The provider will not do this, now or later. `code` is kebab-case, `message` plain words. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string

  constructor(code: string, message: string, options?: Cause) {
    super(message, options)
    this.code = code
  }
}

/**
 * The provider did not answer, or is not working: timeouts, 5xx, bad credentials. `accepted` says whether the request
 * may have taken effect: `no` is safe to repeat, `unknown` only with an idempotency key.
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
 * Our access is gone (uninstalled, revoked, a wrong key): nothing was done, and nothing will be until somebody acts.
 * `code` is kebab-case; `remedy` says who can do what.
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

/** Rate limit: nothing was sent, and the same request may be repeated after `retryAfterMs` milliseconds. */
export class Throttled extends Error {
  override readonly name: string = 'Throttled'
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, message = 'The provider asks to slow down', options?: Cause) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** Rate limit of this one recipient: other recipients may get messages meanwhile. */
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
