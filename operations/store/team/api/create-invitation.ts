import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { invite } from '../invitations.ts'
import { invitation } from '../schema.ts'

const { email, role } = invitation.shape

export default operation({
  method: 'POST',
  path: '/stores/team/invitations',
  description: 'Invite somebody to the team by email; the link in it holds for seven days.',
  details: 'A team has at most 50 members and pending invitations.',
  words: 'invite a colleague, add an employee, give access',
  scopes: ['platform:write', 'team:write'],
  readOnly: false,
  consequences: ['messages'],
  whilePaused: true,
  input: {
    body: writeBody(
      { email, role },
      ['id', 'status', 'invitedBy', 'expiresAt', 'createdAt', 'updatedAt'],
      ['email', 'role'],
    ),
  },
  answer: { status: 201, body: invitation },
  refuses: { conflict: 'Already a member, or invited and pending, or the team is full' },
  etag: true,
  example: { body: { email: 'ada@example.com', role: 'agent' } },
  handler: (ctx, { body }) => invite(ctx, body),
})
