/** Irreversible consequences of a write, derived from the operation's spec. */
import type { Operation } from '#runtime/operation'
import { operationId } from '#runtime/registry/registry'
import { type Consequence, consequenceKinds, type Scope } from '#runtime/roles'

type Spec = Operation['spec']

const scopeConsequences: Partial<Record<Scope, Consequence>> = {
  'messages:send': 'messages',
  'billing:write': 'money',
  'team:write': 'access',
}

/** Lists an operation's consequences in the order of `consequenceKinds`; empty for a read. */
export function listConsequences({ readOnly, method, scopes, consequences }: Spec): readonly Consequence[] {
  if (readOnly) return []
  const found = new Set(scopes.flatMap((scope) => scopeConsequences[scope] ?? []))
  for (const kind of consequences ?? []) found.add(kind)
  if (method === 'DELETE') found.add('deletion')
  return consequenceKinds.filter((kind) => found.has(kind))
}

/** Lists the ids of the read operations that show in advance what a write would affect. */
export const listLookFirst = ({ lookFirst = [] }: Spec): string[] =>
  lookFirst.map((path) => operationId('GET', path))
