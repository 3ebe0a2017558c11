import { operation } from '#runtime/operation'
import { readTeam } from '../members.ts'
import { team } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/stores/team',
  description: 'List the members of the team, owners first, and the invitations that are still pending.',
  words: 'who has access, members, staff, employees, roles, pending invitations',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: team },
  handler: (ctx) => readTeam(ctx),
})
