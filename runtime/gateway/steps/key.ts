/** Looks up the holder of the key. */
import type { Access } from '#db/access'
import { ApiError } from '#runtime/errors'
import type { Call } from '../call.ts'
import { awaitCounts } from './limits.ts'

export function identifyKey(call: Call): Promise<void> | void {
  if (call.operation?.spec.public) return
  const authorization = call.request.header('authorization')
  const key = authorization && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : null
  if (!key) throw unknownKeyError('Bearer')
  // An unknown key may be a brute-force attempt: the address is counted before the database is queried.
  if (call.pendingCounts && !call.gateway.keys.hasWorked(key)) {
    return awaitCounts(call).then(() => lookUp(call, key))
  }
  return lookUp(call, key)
}

function lookUp(call: Call, key: string): Promise<void> | void {
  const found = call.gateway.keys.find(key, call.now, call.monotonicMs)
  if (found instanceof Promise) return found.then((access) => setAccess(call, access))
  setAccess(call, found)
}

function setAccess(call: Call, access: Access | null): void {
  if (!access) throw unknownKeyError('Bearer error="invalid_token"')
  call.access = access
}

/** One message for every reason, so that it reveals nothing. `challenge`: whether a key was sent (RFC 6750, section 3.1). */
const unknownKeyError = (challenge: string): ApiError =>
  new ApiError(
    'unauthorized',
    'The API key is missing, invalid, expired or revoked: send Authorization: Bearer <key>',
    { 'www-authenticate': challenge },
  )
