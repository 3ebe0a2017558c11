/** What other sections give to capture. */
import { byKey, points } from '#runtime/wiring'
import type { Leave } from './subscribers/unsubscribes.ts'

const declared = points({
  /** By the topic of emails that is left. */
  unsubscribes: byKey<Leave>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByCapture {}
}
type DeclaredByCapture = typeof declared.declared
