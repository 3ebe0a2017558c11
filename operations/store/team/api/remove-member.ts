import { operation } from '#runtime/operation'
import { removeMember } from '../members.ts'

export default operation({
  method: 'DELETE',
  path: '/stores/team/members/:userId',
  description: 'Remove a member of the team: their keys stop working at once, everywhere.',
  details: 'Owners may remove themselves too, while another owner remains.',
  words: 'fire somebody, take away access, kick out, employee left',
  scopes: ['platform:write', 'team:write'],
  readOnly: false,
  whilePaused: true,
  answer: { status: 204 },
  refuses: { not_found: 'No such member', conflict: 'The last owner' },
  handler: (ctx, { params }) => removeMember(ctx, params.userId),
})
