/** Turns any error into the `ApiError` that the caller receives. */
import { ApiError, refuse, sqlState } from '#runtime/errors'
import { AccessLost, NumberLimit, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { findConnectionFailure, type KnownFailure } from '#runtime/ports/instrumentation'

/** `ifMatch`: whether the request had an `If-Match` header. */
export function toApiError(error: unknown, { ifMatch = false }: { ifMatch?: boolean } = {}): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof Refused) return refuse('conflict', error.message)
  const trouble = findConnectionFailure(error)
  if (trouble) return refuse('unavailable', describeOutage(trouble))
  if (error instanceof AccessLost) return refuse('unavailable', `${error.message}: ${error.remedy}`)
  if (error instanceof Throttled || error instanceof NumberLimit || error instanceof Unavailable) {
    return refuse('unavailable', 'A system this depends on does not answer: try again later')
  }
  const state = sqlState(error)
  if (state === '40001' && ifMatch) {
    return refuse('conflict', 'If-Match: the resource changed meanwhile: read it again')
  }
  // SQLSTATE class 22 (data exception): the caller sent a value that no schema refused. The caller can correct it. The
  // log shows us that a schema is too permissive.
  if (state?.startsWith('22'))
    return refuse('bad_request', 'A value is out of range or not of the right form')
  return refuse('unavailable', 'Something went wrong on our side: try again later')
}

/**
 * Whether a handler failed in a known state: it refused the request, or a provider's adapter failed and the handler has
 * compensated for that if needed.
 */
export const isExpectedFailure = (error: unknown): boolean =>
  [ApiError, Refused, AccessLost, Throttled, NumberLimit, Unavailable].some(
    (kind) => error instanceof kind,
  ) || findConnectionFailure(error) !== null

/** Describes the cause and the remedy. If the server's own provider fails, says that the merchant need not act. */
function describeOutage({ port, provider, state, since, message, remedy, isServers }: KnownFailure): string {
  const when = `since ${since.toISOString()}`
  if (isServers) {
    const what = port === 'mail' ? 'email' : port
    return `The ${what} of this server does not work ${when}: whoever runs it has to look into it; nothing has to be done at the store`
  }
  if (state === 'lost')
    return `The connection to ${provider} is lost ${when}: ${joinSentences(message, remedy)}`
  return `${provider} has not answered ${when}: ${joinSentences(remedy)}`
}

const joinSentences = (...texts: string[]): string => texts.map((text) => text.replace(/\.?$/, '')).join('. ')
