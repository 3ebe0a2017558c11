import type { Context } from '#runtime/context'
import type { MemberRole } from '../enums.ts'
import { sendMail } from '../files/links.ts'
import { buildInvitationMail } from './invitation-texts.ts'
import { findSentToken } from './invitations.ts'

/** Sends the email of an invitation, if it is still pending. */
export async function mailInvitation(ctx: Context, invitationId: string): Promise<void> {
  const invitation = await ctx.db
    .selectFrom('invitations as i')
    .innerJoin('store_people as p', 'p.user_id', 'i.invited_by')
    .select(['i.email', 'i.role', 'i.expires_at', 'i.token_hash', 'p.name as inviter'])
    .where('i.id', '=', invitationId)
    .where('i.status', '=', 'pending')
    .where('i.expires_at', '>', ctx.now())
    .executeTakeFirst()
  if (!invitation) return
  const token = findSentToken(ctx.settings, invitationId, invitation.token_hash)
  await sendMail(ctx, {
    to: invitation.email,
    ...buildInvitationMail({
      storeName: ctx.store.name,
      inviterName: invitation.inviter,
      role: invitation.role as MemberRole,
      link: `${ctx.settings.publicUrl}/invitations/${token}`,
      expiresAt: invitation.expires_at,
      timezone: ctx.store.timezone,
      locale: ctx.store.locale,
    }),
    idempotencyKey: invitationId,
  })
}
