/** Strict checks of the tests: an operation answers and refuses as its file declares. */
import { type ApiError, type ErrorCode, refuse } from '#runtime/errors'
import type { Call } from '../call.ts'

export function requireDeclaredAnswer(call: Call, body: string): void {
  const { spec, file } = call.operation!
  if (!spec.answer.body) {
    if (body !== '') throw new Error(`${file}: answered a body with status ${spec.answer.status}`)
    return
  }
  const parsed = spec.answer.body.safeParse(JSON.parse(body))
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
    throw new Error(`${file}: its answer does not fit its schema: ${issues}`)
  }
}

/**
 * Codes that any operation may refuse with, since the gateway itself does. With an Idempotency-Key or an If-Match, an
 * operation may also refuse with `conflict`.
 */
const pipelineCodes: readonly ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'payload_too_large',
  'rate_limited',
  'unavailable',
]

/** Returns an error that names the operation's file if the refusal is not declared there; used only in tests. */
export function findUndeclaredRefusal(call: Call, refusal: ApiError): ApiError | null {
  const { operation } = call
  if (!operation || pipelineCodes.includes(refusal.code) || operation.spec.refuses?.[refusal.code])
    return null
  if (
    refusal.code === 'conflict' &&
    (call.request.header('idempotency-key') || call.request.header('if-match'))
  ) {
    return null
  }
  return refuse('unavailable', `${operation.file} does not declare that it refuses with ${refusal.code}`)
}
