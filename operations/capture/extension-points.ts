/** Extension points of lead capture. */
import { byKey, extensionPoints } from '#runtime/extensions'
import type { UnsubscribeHandler } from './subscribers/unsubscribes.ts'

const declared = extensionPoints({
  /** Handlers that unsubscribe a person from the emails of a topic, by topic. */
  unsubscribes: byKey<UnsubscribeHandler>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByCapture {}
}
type DeclaredByCapture = typeof declared.declared
