/** What a provider says is missing, or why it says nothing: for `npm run store -- check`, which changes nothing. */
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { Finding, ProviderStore } from '#runtime/ports/provider'

/** `cheapest`: a call that shows whether access holds, where the adapter has no `check` of its own; null: there is none. */
export async function checking(
  adapter: object,
  store: ProviderStore | null,
  cheapest: (() => Promise<unknown>) | null,
): Promise<Finding[]> {
  const { check } = adapter as { check?(store?: ProviderStore): Promise<unknown> }
  try {
    const found = check
      ? await (store ? check.call(adapter, store) : check.call(adapter))
      : await cheapest?.()
    if (Array.isArray(found)) return found as Finding[]
    const message =
      check || cheapest ? 'It answers, and takes our access' : 'Nothing can be asked of it beforehand'
    return [{ code: 'answers', isFine: true, message }]
  } catch (error) {
    return [findingOf(error)]
  }
}

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
