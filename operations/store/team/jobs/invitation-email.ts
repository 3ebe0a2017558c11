import { notify } from '#operations/notifications/index'
import { job } from '#runtime/job'
import { invitationEmail } from '../../handles.ts'
import { mailInvitation } from '../invitation-email.ts'

export default job(invitationEmail, {
  description: 'Emails the link of an invitation to the team.',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice:
    'The id of the invitation is the idempotency key of its email; one that is no longer pending is skipped.',
  run: (ctx, { invitationId }) => mailInvitation(ctx, invitationId),
  async failed(ctx, { invitationId }) {
    const invitation = await ctx.db
      .selectFrom('invitations')
      .select(['email', 'invited_by'])
      .where('id', '=', invitationId)
      .executeTakeFirst()
    if (!invitation) return
    await notify(ctx, {
      type: 'invitation-failed',
      level: 'error',
      title: 'An invitation could not be sent',
      message: `No email reached ${invitation.email}: revoke the invitation, check the address and invite again.`,
      recipientIds: [invitation.invited_by],
      dedupeKey: `invitation-failed:${invitationId}`,
    })
  },
})
