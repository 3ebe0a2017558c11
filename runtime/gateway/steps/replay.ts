/** A write that comes again under its Idempotency-Key is answered what it was answered before. */
import { Refusal } from '#runtime/errors'
import type { Call } from '../call.ts'
import { Claim, stillRunning } from '../idempotency.ts'

export function replay(call: Call): Promise<void> | void {
  const { claim } = call.context!.actor
  if (!(claim instanceof Claim)) return
  // Given back, too, where it was claimed and nobody heard of it.
  call.claim = claim
  return claim.take(call.context!).then(
    (stored) => {
      if (!stored) return
      call.claim = null
      if (stored === 'running') throw stillRunning()
      const { status, body } = stored
      const headers = Object.assign(call.headers, stored.headers, { 'idempotency-replayed': 'true' })
      if (body === '') delete headers['content-type']
      call.answer = { status, body, headers }
    },
    (error) => {
      if (error instanceof Refusal) call.claim = null
      throw error
    },
  )
}
