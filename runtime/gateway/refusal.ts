/** What a caller is told of an error, whatever door they came by. */
import { Refusal, refuse, sqlState } from '#runtime/errors'
import { AccessLost, NumberLimit, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type KnownTrouble, troubleOf } from '#runtime/ports/heard'

/** `ifMatch`: the request named what it expects to change. */
export function refusalFrom(error: unknown, { ifMatch = false }: { ifMatch?: boolean } = {}): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof Refused) return refuse('conflict', error.message)
  const trouble = troubleOf(error)
  if (trouble) return refuse('unavailable', sayingWhy(trouble))
  if (error instanceof AccessLost) return refuse('unavailable', `${error.message}: ${error.remedy}`)
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

/**
 * Whether a handler ended knowing what it had done: by a refusal of its own, or by what a provider's adapter said, which it
 * has put right where anything was to be.
 */
export const isSaid = (error: unknown): boolean =>
  [Refusal, Refused, AccessLost, Throttled, NumberLimit, Unavailable].some((kind) => error instanceof kind) ||
  troubleOf(error) !== null

/** The cause and the remedy; of the server's own providers a merchant hears that it is not theirs to mend. */
function sayingWhy({ port, provider, state, since, message, remedy, isServers }: KnownTrouble): string {
  const when = `since ${since.toISOString()}`
  if (isServers) {
    const what = port === 'mail' ? 'email' : port
    return `The ${what} of this server does not work ${when}: whoever runs it has to look into it; nothing has to be done at the store`
  }
  if (state === 'lost') return `The connection to ${provider} is lost ${when}: ${sentences(message, remedy)}`
  return `${provider} has not answered ${when}: ${sentences(remedy)}`
}

const sentences = (...texts: string[]): string => texts.map((text) => text.replace(/\.?$/, '')).join('. ')
