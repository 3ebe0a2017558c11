/** The check with which the gateway enforces what the store's plan and subscription allow. */
import type { Entitlement } from '#runtime/gateway/access'
import { canWriteAt, featureSet, features, getPlan, planIdAt, statusAt } from '../plans.ts'

export const entitlementCheck: Entitlement = {
  features,
  refusesFeature({ subscription }, feature, now) {
    const planId = planIdAt(subscription, now)
    if (featureSet(planId).has(feature)) return null
    return `The plan ${getPlan(planId).name} does not include ${feature}: change the plan to use it`
  },
  refusesWrites({ subscription }, now) {
    const status = statusAt(subscription, now)
    if (canWriteAt(status)) return null
    return `The subscription is ${status}: only reads, the team, notifications and the subscription itself are open`
  },
}
