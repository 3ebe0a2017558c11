/** Turns the handler's result into the answer. */
import { JsonText } from '#runtime/operation'
import { fillMonitor } from '#runtime/registry/monitor'
import { getVolatileFields } from '#runtime/schema'
import type { Answer } from '../answers.ts'
import type { Call } from '../call.ts'
import { buildEtag } from '../etag.ts'
import { getIdentityText } from '../if-match.ts'
import { findWarnings, mayWarn, warningHeader } from '../warnings.ts'
import { requireDeclaredAnswer } from './strict.ts'

export function toAnswer(call: Call, result: unknown): Answer {
  const { spec } = call.operation!
  const body = toText(result)
  if (call.gateway.strict) requireDeclaredAnswer(call, body)
  // Copied: if the write is rolled back or refused later, the call must not keep these headers.
  const headers = { ...call.headers }
  if (result instanceof JsonText && result.headers) Object.assign(headers, result.headers)
  if (spec.etag) headers.etag = buildEtag(body, getIdentityText(result, getVolatileFields(spec.answer.body!)))
  if (!spec.readOnly && spec.answer.body && mayWarn(spec.answer.body)) {
    const resource = result instanceof JsonText ? JSON.parse(body) : result
    const warnings = findWarnings(spec.answer.body, resource)
    if (warnings.length > 0) headers.warning = warningHeader(warnings)
  }
  if (spec.cache) headers['cache-control'] = spec.cache
  if (spec.cache?.includes('private')) headers.vary = 'Authorization'
  if (spec.monitor) headers.location = `/v1${fillMonitor(spec.monitor, call.params, body)}`
  if (body === '') delete headers['content-type']
  return { status: spec.answer.status, body, headers }
}

function toText(result: unknown): string {
  if (result instanceof JsonText) return result.text
  return result === undefined ? '' : JSON.stringify(result)
}

/** The headers that a stored answer repeats. */
export function pickStoredHeaders({ headers: { etag, warning, location } }: Answer): Record<string, string> {
  return { ...(etag ? { etag } : {}), ...(warning ? { warning } : {}), ...(location ? { location } : {}) }
}
