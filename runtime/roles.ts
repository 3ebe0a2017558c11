/** Scopes and roles: an operation declares which of them a caller needs. */
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

/** Kinds of consequences of a write that cannot be undone. `final`: the write ends something for good. */
export const consequenceKinds = ['messages', 'money', 'access', 'deletion', 'final'] as const
export type Consequence = (typeof consequenceKinds)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
