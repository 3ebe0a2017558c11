/** What a caller is told of an error, whatever door they came by. */
import { Refusal, refuse, sqlState } from '#runtime/errors'
import { NumberLimit, Refused, Throttled, Unavailable } from '#runtime/ports/errors'

/** `ifMatch`: the request named what it expects to change. */
export function refusalFrom(error: unknown, { ifMatch = false }: { ifMatch?: boolean } = {}): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof Refused) return refuse('conflict', error.message)
  if (error instanceof Throttled || error instanceof NumberLimit || error instanceof Unavailable) {
    return refuse('unavailable', 'A system this depends on does not answer: try again later')
  }
  const state = sqlState(error)
  if (state === '40001' && ifMatch) {
    return refuse('conflict', 'If-Match: the resource changed meanwhile: read it again')
  }
  // Class 22 is about a value that a caller sent and no schema caught: theirs to mend, ours to look at in the log.
  if (state?.startsWith('22'))
    return refuse('bad_request', 'A value is out of range or not of the right form')
  return refuse('unavailable', 'Something went wrong on our side: try again later')
}
