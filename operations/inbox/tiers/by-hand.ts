/** A contact's tier as a member sets it. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { contactOf } from '../conversations/contact-of.ts'
import { recalculateContacts } from './segments.ts'
import { tierRules } from './settings.ts'
import { showTiers } from './tiers.ts'

/** A key sets the contact's tier by hand; null takes that away and computes the automatic one at once. */
export async function setTier(ctx: Context, conversationId: string, tier: string | null): Promise<void> {
  const { contactId } = await contactOf(ctx, conversationId)
  // Whoever saves the tiers holds it: one that they take away is given to nobody meanwhile.
  if (tier !== null) await ctx.lockStore()
  const contact = await ctx.db
    .selectFrom('contacts')
    .select(['id', 'tier', 'tier_source'])
    .where('id', '=', contactId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { tiers } = await tierRules.inForce(ctx)
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
  await showTiers(ctx, [contact.id])
}
