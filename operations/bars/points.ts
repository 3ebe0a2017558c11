/** What other sections give to the bars and alerts. */
import { points, single } from '#runtime/wiring'
import type { ApprovedReviews } from './alerts/reviews-port.ts'

const declared = points({ approvedReviews: single<ApprovedReviews>() })
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByBars {}
}
type DeclaredByBars = typeof declared.declared
