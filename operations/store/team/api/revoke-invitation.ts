import { operation } from '#runtime/operation'
import { revokeInvitation } from '../invitations.ts'

export default operation({
  method: 'DELETE',
  path: '/stores/team/invitations/:id',
  description: 'Revoke a pending invitation: its link is dead.',
  words: 'withdraw an invitation, take back the invite',
  scopes: ['platform:write', 'team:write'],
  readOnly: false,
  whilePaused: true,
  answer: { status: 204 },
  refuses: { not_found: 'No such invitation', conflict: 'It is accepted, revoked or expired' },
  handler: (ctx, { params }) => revokeInvitation(ctx, params.id),
})
