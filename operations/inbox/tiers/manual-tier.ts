/** Sets the tier that a member chooses for a contact. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { getConversationContact } from '../conversations/conversation-contact.ts'
import { recalculateContacts } from './segments.ts'
import { tierRules } from './settings.ts'
import { copyTiersToConversations } from './tiers.ts'

/** Sets the manual tier. Null removes it, and the automatic tier is computed at once. */
export async function setTier(ctx: Context, conversationId: string, tier: string | null): Promise<void> {
  const { contactId } = await getConversationContact(ctx, conversationId)
  // Saving the tier settings takes the same lock, so that a tier cannot be removed while it is being assigned.
  if (tier !== null) await ctx.lockStore()
  const contact = await ctx.db
    .selectFrom('contacts')
    .select(['id', 'tier', 'tier_source'])
    .where('id', '=', contactId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { tiers } = await tierRules.getEffective(ctx)
  if (tier !== null && !tiers.some((each) => each.key === tier)) {
    throw refuse('bad_request', `tier: must be one of ${tiers.map((each) => each.key).join(', ')}, or null`)
  }
  const isSame =
    tier === null
      ? contact.tier_source === 'automatic'
      : contact.tier_source === 'manual' && contact.tier === tier
  if (isSame) return
  await ctx.db
    .updateTable('contacts')
    .set({
      tier_source: tier === null ? 'automatic' : 'manual',
      ...(tier === null ? {} : { tier }),
      updated_at: ctx.now(),
    })
    .where('id', '=', contact.id)
    .execute()
  if (tier === null) await recalculateContacts(ctx, [contact.id])
  await copyTiersToConversations(ctx, [contact.id])
}
