/** What a write does that nobody can take back, made from what its operation declares. */
import type { Operation } from '#runtime/operation'
import { operationId } from '#runtime/registry/registry'
import { type Consequence, kindsOfConsequence, type Scope } from '#runtime/roles'

type Spec = Operation['spec']

const ofScopes: Partial<Record<Scope, Consequence>> = {
  'messages:send': 'messages',
  'billing:write': 'money',
  'team:write': 'access',
}

/** In the order of the kinds; empty for a read. */
export function consequencesOf({ readOnly, method, scopes, consequences }: Spec): readonly Consequence[] {
  if (readOnly) return []
  const found = new Set(scopes.flatMap((scope) => ofScopes[scope] ?? []))
  for (const kind of consequences ?? []) found.add(kind)
  if (method === 'DELETE') found.add('deletion')
  return kindsOfConsequence.filter((kind) => found.has(kind))
}

/** The ids of the reads that show what it would do. */
export const readsBefore = ({ lookFirst = [] }: Spec): string[] =>
  lookFirst.map((path) => operationId('GET', path))
