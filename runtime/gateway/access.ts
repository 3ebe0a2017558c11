/** Whether a key may run an operation: one function for the gateway, `GET /operations` and the assistants. */
import type { Access } from '#db/access'
import type { LoadedOperation } from '#runtime/registry/loaded'

const rank = { agent: 0, member: 1, owner: 2 } as const

/** The entitlement of a store: the features it has paid for; `now` in milliseconds. */
export interface Entitlement {
  /** All features that operations may declare. */
  features: readonly string[]
  /** One sentence that says why the store may not use the feature; null if it may. */
  refusesFeature(access: Access, feature: string, now: number): string | null
  /** One sentence that says why the store may not write; null if it may. */
  refusesWrites(access: Access, now: number): string | null
}

/** Returns the scopes of the key and those that it lacks for the operation; null if it lacks none. */
export function listNeededScopes({ spec }: LoadedOperation, { scopes }: Access): string[] | null {
  return spec.scopes.every((scope) => scopes.has(scope)) ? null : [...new Set([...scopes, ...spec.scopes])]
}

/**
 * Returns one sentence that says why the key may not run the operation; null if it may. Without an `entitlement` every
 * store has all features. `now` is in milliseconds.
 */
export function checkAccess(
  operation: LoadedOperation,
  access: Access,
  now: number,
  entitlement: Entitlement | null,
): string | null {
  const { spec } = operation
  for (const scope of spec.scopes) {
    if (!access.scopes.has(scope)) return `This key lacks the permission ${scope}`
  }
  if (rank[access.role] < rank[operation.minimumRole]) {
    return `This needs the role ${operation.minimumRole}; the creator of this key is ${access.role}`
  }
  if (spec.feature) {
    const refused = entitlement?.refusesFeature(access, spec.feature, now)
    if (refused) return refused
  }
  if (!spec.readOnly && !spec.whilePaused) return entitlement?.refusesWrites(access, now) ?? null
  return null
}
