/** What other sections give to campaigns and their lists. */
import type { Context } from '#runtime/context'
import { inOrder, points } from '#runtime/wiring'

const declared = points({
  /** In the transaction that deletes a list: settings that name it let go of it. */
  listDeleted: inOrder<(ctx: Context, listId: string) => Promise<void>>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByCampaigns {}
}
type DeclaredByCampaigns = typeof declared.declared
