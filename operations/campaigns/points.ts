/** What other sections give to campaigns, their lists and opt-outs. */
import type { Context } from '#runtime/context'
import { inOrder, points, single } from '#runtime/wiring'
import type { Mark } from './opt-outs/opt-outs.ts'

const declared = points({
  /** In the transaction that deletes a list: settings that name it let go of it. */
  listDeleted: inOrder<(ctx: Context, listId: string) => Promise<void>>(),
  optOutsChanged: single<Mark>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByCampaigns {}
}
type DeclaredByCampaigns = typeof declared.declared
