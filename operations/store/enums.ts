/** Features, subscription statuses and member roles, for enums in schemas. */
import { features, type SubscriptionStatus } from './plans.ts'

export const allFeatures = features as readonly [string, ...string[]] as [string, ...string[]]

export const subscriptionStatuses = [
  'trialing',
  'active',
  'past-due',
  'paused',
  'cancelled',
  'ended',
] as const satisfies readonly SubscriptionStatus[]

export const memberRoles = ['owner', 'member', 'agent'] as const
export type MemberRole = (typeof memberRoles)[number]
