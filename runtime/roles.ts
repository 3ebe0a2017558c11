/** Scopes and roles: operations declare them, and the rights of a caller are compared with them. */
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

/** Effects of a write that nobody can undo. `final`: it ends something for good. */
export const consequenceKinds = ['messages', 'money', 'access', 'deletion', 'final'] as const
export type Consequence = (typeof consequenceKinds)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
