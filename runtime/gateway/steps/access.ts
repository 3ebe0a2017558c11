/** Whether the operation exists, and whether this key may run it. */
import { ApiError, refuse } from '#runtime/errors'
import { checkAccess, listNeededScopes } from '../access.ts'
import type { Call } from '../call.ts'

export function findRoute(call: Call): void {
  if (!call.operation) {
    throw refuse(
      'not_found',
      `${call.request.method} ${call.request.path.slice(0, 200)} is no operation: GET /v1/operations lists them`,
    )
  }
}

export function authorise(call: Call): void {
  if (!call.access) return
  const reason = checkAccess(
    call.operation!,
    call.access,
    call.now,
    call.gateway.registry.extensions.entitlement,
  )
  if (reason === null) return
  // Tells an OAuth client which scopes to ask for (RFC 6750, section 3.1).
  const scopes = listNeededScopes(call.operation!, call.access)
  throw new ApiError(
    'forbidden',
    reason,
    scopes ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` } : {},
  )
}
