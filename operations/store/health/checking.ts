/** What a provider says is missing, or why it says nothing: for `npm run store -- check`, which changes nothing. */
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { unheard } from '#runtime/ports/heard'
import type { PortName } from '#runtime/ports/ports'
import type { Finding } from '#runtime/ports/provider'
import type { Checked } from './kinds.ts'

/** `asked`: what the adapter finds of itself, or a call that shows whether access holds. */
export async function checking(asked: () => Promise<unknown>): Promise<Finding[]> {
  try {
    const found = await asked()
    if (Array.isArray(found) && found.every(isFinding)) return found
    return [{ code: 'answers', isFine: true, message: 'It answers, and takes our access' }]
  } catch (error) {
    return [findingOf(error)]
  }
}

/** The connection of a port that has one at most. */
export async function checkingOne<Connected extends { provider: string; port: object }>(
  port: PortName,
  connected: Connected | null,
  asked: (adapter: Connected['port'], connected: Connected) => Promise<unknown>,
): Promise<Checked[]> {
  if (!connected) return [{ port, part: '', provider: null, findings: [] }]
  const { provider } = connected
  const adapter = unheard(connected.port)
  return [{ port, part: '', provider, findings: await checking(() => asked(adapter, connected)) }]
}

/** Asks for what nobody has: a provider that refuses was asked, and takes our access. */
export async function answers(asked: Promise<unknown>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  }
}

const isFinding = (each: unknown): each is Finding =>
  typeof each === 'object' && each !== null && 'isFine' in each

function findingOf(error: unknown): Finding {
  if (error instanceof AccessLost) {
    const { code, message, remedy } = error
    return { code, isFine: false, message, remedy }
  }
  if (error instanceof Unavailable) {
    const remedy =
      'Look whether the provider has an outage, and whether this machine reaches it; then check again'
    return { code: 'no-answer', isFine: false, message: error.message, remedy }
  }
  if (error instanceof Refused) return { code: error.code, isFine: false, message: error.message }
  if (!(error instanceof Throttled)) throw error
  return { code: 'throttled', isFine: true, message: 'It answers, and asks to slow down' }
}
