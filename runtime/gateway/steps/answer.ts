/** What the handler answered, as it leaves. */
import { JsonText } from '#runtime/operation'
import { movesOf } from '#runtime/schema'
import type { Answer } from '../answers.ts'
import type { Call } from '../call.ts'
import { etagOf } from '../etag.ts'
import { identityOf } from '../if-match.ts'
import { mayWarn, warningHeader, warningsOf } from '../warnings.ts'
import { requireDeclaredAnswer } from './strict.ts'

export function toAnswer(call: Call, result: unknown): Answer {
  const { spec } = call.operation!
  const body = textOf(result)
  if (call.gateway.strict) requireDeclaredAnswer(call, body)
  // Its own: where the write is undone, or comes to be refused, nothing is said of it.
  const headers = { ...call.headers }
  if (result instanceof JsonText && result.headers) Object.assign(headers, result.headers)
  if (spec.etag) headers.etag = etagOf(body, identityOf(result, movesOf(spec.answer.body!)))
  if (!spec.readOnly && spec.answer.body && mayWarn(spec.answer.body)) {
    const resource = result instanceof JsonText ? JSON.parse(body) : result
    const warnings = warningsOf(spec.answer.body, resource)
    if (warnings.length > 0) headers.warning = warningHeader(warnings)
  }
  if (spec.cache) headers['cache-control'] = spec.cache
  if (spec.cache?.includes('private')) headers.vary = 'Authorization'
  if (body === '') delete headers['content-type']
  return { status: spec.answer.status, body, headers }
}

function textOf(result: unknown): string {
  if (result instanceof JsonText) return result.text
  return result === undefined ? '' : JSON.stringify(result)
}

/** Those that a stored answer has again. */
export function ownHeaders({ headers: { etag, warning } }: Answer): Record<string, string> {
  return { ...(etag ? { etag } : {}), ...(warning ? { warning } : {}) }
}
