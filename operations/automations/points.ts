/** What other sections give to automations. */
import { points, single } from '#runtime/wiring'
import type { ReviewRequests } from './definitions/warnings.ts'
import type { KnowsReviewed } from './engine/reviewed.ts'

const declared = points({
  reviewedOrders: single<KnowsReviewed>(),
  reviewRequests: single<ReviewRequests>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByAutomations {}
}
type DeclaredByAutomations = typeof declared.declared
