/**
 * Builds HTTP answers. Only this file turns an error into an answer: below `/v1`, for pages, and before a request is
 * parsed.
 */
import { ApiError, toHttpStatus } from '#runtime/errors'
import type { Logger } from '#runtime/server/log'

export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

/** The headers of every JSON answer. */
export const jsonHeaders = (requestId: string): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
})

/** `headers`: further headers of the answer. The refusal's own headers are added to this object. */
export function toErrorAnswer(refusal: ApiError, headers: Record<string, string>): Answer {
  if (refusal.code === 'unavailable') headers['retry-after'] = '5'
  Object.assign(headers, refusal.headers)
  return { status: toHttpStatus(refusal.code), body: refusal.body(), headers }
}

/** Logs the cause of a refusal: an internal failure, or an error that is not one of our own classes. */
export function logFailure(log: Logger, error: unknown, refusal: ApiError, fields: object): void {
  if (refusal.code === 'unavailable') log.error({ ...fields, err: error }, 'failed')
  else if (!(error instanceof ApiError)) log.warn({ ...fields, err: error }, 'failed')
}

export function toResponse({ status, body, headers }: Answer): Response {
  const isEmpty = status === 204 || status === 304 || body === ''
  return new Response(isEmpty ? null : body, { status, headers })
}
