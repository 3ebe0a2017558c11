/** Whether a key may run an operation: one function for the gateway, `GET /operations` and the assistants. */
import type { Access } from '#db/access'
import { canWriteAt, featureSet, planIdAt, planOf, statusAt } from '#runtime/plans'
import type { LoadedOperation } from '#runtime/registry/loaded'

const rank = { agent: 0, member: 1, owner: 2 } as const

/** Made once: a text put together anew is hashed anew wherever it is looked up. */
const lackings = new Map<string, string>()
function lacking(scope: string): string {
  let text = lackings.get(scope)
  if (text === undefined) {
    text = `This key lacks the permission ${scope}`
    lackings.set(scope, text)
  }
  return text
}

/** Why not, as one sentence; null when it may. `now` in milliseconds. */
export function refusalOf(operation: LoadedOperation, access: Access, now: number): string | null {
  const { spec } = operation
  for (const scope of spec.scopes) {
    if (!access.scopes.has(scope)) return lacking(scope)
  }
  if (rank[access.role] < rank[operation.minimumRole]) {
    return `This needs the role ${operation.minimumRole}; the creator of this key is ${access.role}`
  }
  if (spec.feature) {
    const planId = planIdAt(access.subscription, now)
    if (!featureSet(planId).has(spec.feature)) {
      return `The plan ${planOf(planId).name} does not include ${spec.feature}: change the plan to use it`
    }
  }
  if (!spec.readOnly && !spec.whilePaused) {
    const status = statusAt(access.subscription, now)
    if (!canWriteAt(status)) {
      return `The subscription is ${status}: only reads, the team, notifications and the subscription itself are open`
    }
  }
  return null
}
