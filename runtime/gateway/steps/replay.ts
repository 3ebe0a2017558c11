/** A write that is repeated under its Idempotency-Key gets the stored answer. */
import { runFor } from '#db/owner'
import { ApiError } from '#runtime/errors'
import type { Call } from '../call.ts'
import { Claim, stillRunningError } from '../idempotency.ts'

export function replay(call: Call): Promise<void> | void {
  const { claim } = call.context!.actor
  if (!(claim instanceof Claim)) return
  // Set before the claim is acquired: if the database's reply is lost, the claim may exist and must be released too.
  call.claim = claim
  return runFor(call.access?.storeId, () => claim.take(call.context!)).then(
    (stored) => {
      if (!stored) return
      call.claim = null
      if (stored === 'running') throw stillRunningError()
      const { status, body } = stored
      const headers = Object.assign(call.headers, stored.headers, { 'idempotency-replayed': 'true' })
      if (body === '') delete headers['content-type']
      call.answer = { status, body, headers }
    },
    (error) => {
      if (error instanceof ApiError) call.claim = null
      throw error
    },
  )
}
