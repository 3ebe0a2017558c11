/** Who may do what, and how it is asked for: what an operation's declaration and a caller's rights are compared in. */
export const allScopes = [
  'platform:read',
  'platform:write',
  'messages:send',
  'billing:write',
  'team:write',
  'integrations:write',
] as const
export type Scope = (typeof allScopes)[number]

export const roles = ['agent', 'member', 'owner'] as const
export type Role = (typeof roles)[number]

/** What a write does that nobody can take back. `final`: it ends something for good. */
export const kindsOfConsequence = ['messages', 'money', 'access', 'deletion', 'final'] as const
export type Consequence = (typeof kindsOfConsequence)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
