/** Extension points of banners and alerts. */
import { extensionPoints, single } from '#runtime/extensions'
import type { ApprovedReviews } from './alerts/reviews-port.ts'

const declared = extensionPoints({ approvedReviews: single<ApprovedReviews>() })
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByBars {}
}
type DeclaredByBars = typeof declared.declared
