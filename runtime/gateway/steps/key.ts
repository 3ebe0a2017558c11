/** Whose key it is. */
import type { Access } from '#db/access'
import { Refusal } from '#runtime/errors'
import type { Call } from '../call.ts'
import { settleCounts } from './limits.ts'

export function identifyKey(call: Call): Promise<void> | void {
  if (call.operation?.spec.public) return
  const authorization = call.request.header('authorization')
  const key = authorization && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : null
  if (!key) throw unknownKey()
  // What nobody here has seen work may be a guess: the address is counted before the database is asked of it.
  if (call.counting && !call.gateway.keys.hasWorked(key)) {
    return settleCounts(call).then(() => lookUp(call, key))
  }
  return lookUp(call, key)
}

function lookUp(call: Call, key: string): Promise<void> | void {
  const found = call.gateway.keys.find(key, call.now, call.running)
  if (found instanceof Promise) return found.then((access) => identified(call, access))
  identified(call, found)
}

function identified(call: Call, access: Access | null): void {
  if (!access) throw unknownKey()
  call.access = access
}

/** One sentence for every reason: it tells a stranger nothing. */
const unknownKey = (): Refusal =>
  new Refusal(
    'unauthorized',
    'The API key is missing, invalid, expired or revoked: send Authorization: Bearer <key>',
    {
      'www-authenticate': 'Bearer',
    },
  )
