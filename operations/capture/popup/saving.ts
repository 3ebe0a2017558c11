/** What saving the popup and saving the contact form have in common. */
import { changed, publication } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'

interface Shown {
  isEnabled: boolean
}
/** What is on is put on the platform at each save, and where it is missing though nothing changed (rule 4). */
export const onPlatform = {
  async saved(tx: Context, { isEnabled }: Shown): Promise<void> {
    await changed(tx)
    if (isEnabled) await publication.publish(tx)
  },
  async unchanged(tx: Context, { isEnabled }: Shown): Promise<void> {
    if (isEnabled) await publication.publishIfMissing(tx)
  },
}

/** Refuses a list that is named anew and there is not; holds it until the transaction ends. */
export async function requireList<Field extends string>(
  ctx: Context,
  field: Field,
  { [field]: listId }: Record<Field, string | null>,
  before: Record<Field, string | null>,
): Promise<void> {
  if (listId === null || listId === before[field]) return
  // Held until the settings are saved: whoever deletes the list takes it out of saved settings.
  const held = ctx.db.selectFrom('contact_lists').select('id').forKeyShare()
  await oneRow(held, listId, `${field}: there is no such contact list`)
}
