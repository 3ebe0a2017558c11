/** Extension points of this section, which other sections implement. */
import { extensionPoints, single } from '#runtime/extensions'
import type { ContactReviews } from './conversations/reviews-port.ts'

const declared = extensionPoints({ contactReviews: single<ContactReviews>() })
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByInbox {}
}
type DeclaredByInbox = typeof declared.declared
