/** Answers, and the one place where an error becomes one: below `/v1`, of pages, and before there is a request. */
import { Refusal, statusOf } from '#runtime/errors'
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

/** `headers`: what the answer has besides the refusal's own; they are added to. */
export function refusalAnswer(refusal: Refusal, headers: Record<string, string>): Answer {
  if (refusal.code === 'unavailable') headers['retry-after'] = '5'
  Object.assign(headers, refusal.headers)
  return { status: statusOf(refusal.code), body: refusal.body(), headers }
}

/** Logs the cause of what `refusal` says to the caller: a failure of ours, or an error that no code of ours threw. */
export function logFailure(log: Logger, error: unknown, refusal: Refusal, fields: object): void {
  if (refusal.code === 'unavailable') log.error({ ...fields, err: error }, 'failed')
  else if (!(error instanceof Refusal)) log.warn({ ...fields, err: error }, 'failed')
}

export function toResponse({ status, body, headers }: Answer): Response {
  const isEmpty = status === 204 || status === 304 || body === ''
  return new Response(isEmpty ? null : body, { status, headers })
}
