/** Extension points of lead capture. */
import { byKey, extensionPoints } from '#runtime/extensions'
import type { UnsubscribeHandler } from './subscribers/unsubscribes.ts'

const declared = extensionPoints({
  /** By the topic of the emails. */
  unsubscribes: byKey<UnsubscribeHandler>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByCapture {}
}
type DeclaredByCapture = typeof declared.declared
