/** Hooks shared by saves of the popup and of the contact form. */
import { markStorefrontChanged, publication } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'

interface Shown {
  isEnabled: boolean
}
/**
 * Publishes an enabled widget after each save. A save that changes nothing publishes only if the loader is missing on the
 * platform (rule 4).
 */
export const publishHooks = {
  async onSaved(tx: Context, { isEnabled }: Shown): Promise<void> {
    await markStorefrontChanged(tx)
    if (isEnabled) await publication.publish(tx)
  },
  async onUnchanged(tx: Context, { isEnabled }: Shown): Promise<void> {
    if (isEnabled) await publication.publishIfMissing(tx)
  },
}

/** Refuses a newly named list that does not exist, and locks it until the transaction ends. */
export async function requireList<Field extends string>(
  ctx: Context,
  field: Field,
  { [field]: listId }: Record<Field, string | null>,
  before: Record<Field, string | null>,
): Promise<void> {
  if (listId === null || listId === before[field]) return
  // Locks the list until the settings are saved, so that a concurrent deletion waits, finds the list in the saved settings
  // and clears it there.
  const lockedList = ctx.db.selectFrom('contact_lists').select('id').forKeyShare()
  await requireRow(lockedList, listId, `${field}: there is no such contact list`)
}
