/** Extension points of this section, which other sections implement. */
import { extensionPoints, single } from '#runtime/extensions'
import type { ReviewRequests } from './definitions/warnings.ts'
import type { FindReviewed } from './engine/reviewed.ts'

const declared = extensionPoints({
  reviewedOrders: single<FindReviewed>(),
  reviewRequests: single<ReviewRequests>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByAutomations {}
}
type DeclaredByAutomations = typeof declared.declared
