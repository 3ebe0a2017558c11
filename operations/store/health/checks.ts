/** Diagnoses providers for `npm run store -- check`, without changing anything. */
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import type { PortName } from '#runtime/ports/ports'
import type { Precondition } from '#runtime/ports/provider'
import type { ConnectionCheck } from './kinds.ts'

/** Returns the findings of a check. `run` returns the adapter's own findings, or makes a call that proves our access. */
export async function runCheck(run: () => Promise<unknown>): Promise<Precondition[]> {
  try {
    const found = await run()
    if (Array.isArray(found) && found.every(isFinding)) return found
    return [{ code: 'answers', isFine: true, message: 'It answers, and takes our access' }]
  } catch (error) {
    return [toFinding(error)]
  }
}

/** Checks a port of which a store has at most one connection. */
export async function checkConnection<Connected extends { provider: string; port: object }>(
  port: PortName,
  connected: Connected | null,
  run: (adapter: Connected['port'], connected: Connected) => Promise<unknown>,
): Promise<ConnectionCheck[]> {
  if (!connected) return [{ port, part: '', provider: null, findings: [] }]
  const { provider } = connected
  const adapter = unwrapAdapter(connected.port)
  return [{ port, part: '', provider, findings: await runCheck(() => run(adapter, connected)) }]
}

/** Awaits a call about an object that does not exist, and ignores `Refused`, which proves our access. */
export async function expectAnswer(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  }
}

const isFinding = (each: unknown): each is Precondition =>
  typeof each === 'object' && each !== null && 'isFine' in each

function toFinding(error: unknown): Precondition {
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
