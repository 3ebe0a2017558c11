import { count, email, id, instant, named, object, z } from '#runtime/schema'
import { memberRoles } from '../enums.ts'

const role = z.enum(memberRoles)

const member = named(
  'Member',
  object({
    userId: id,
    name: z.string(),
    email: z.string(),
    role,
    isYou: z.boolean().describe('The creator of the calling key'),
    activeKeyCount: count,
    lastActiveAt: instant.nullable().describe('When one of their keys was last used'),
    joinedAt: instant,
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const invitation = named(
  'Invitation',
  object({
    id,
    email,
    role,
    status: z.enum(['pending', 'accepted', 'revoked', 'expired']),
    invitedBy: object({ userId: id, name: z.string() }),
    expiresAt: instant.describe('Seven days after it was made'),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const team = named('Team', object({ members: z.array(member), invitations: z.array(invitation) }))
