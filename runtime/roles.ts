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

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
