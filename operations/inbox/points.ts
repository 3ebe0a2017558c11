/** What other sections give to the inbox. */
import { points, single } from '#runtime/wiring'
import type { ContactReviews } from './conversations/reviews-port.ts'

const declared = points({ contactReviews: single<ContactReviews>() })
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByInbox {}
}
type DeclaredByInbox = typeof declared.declared
