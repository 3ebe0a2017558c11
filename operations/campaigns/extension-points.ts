/** Extension points of campaigns and their lists. */
import type { Context } from '#runtime/context'
import { extensionPoints, inOrder } from '#runtime/extensions'

const declared = extensionPoints({
  /** Called in the transaction that deletes a list, for example to clear settings that refer to the list. */
  listDeleted: inOrder<(ctx: Context, listId: string) => Promise<void>>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByCampaigns {}
}
type DeclaredByCampaigns = typeof declared.declared
