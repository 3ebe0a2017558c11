/** Turns on features chosen in the onboarding (rule 13). */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { getPlan } from '../plans.ts'
import { readEntitlement } from '../quota/entitlement.ts'
import { changeOnboarding, readOnboarding } from './onboarding.ts'
import type { Activated, SkipReason } from './schema.ts'

/** Turns on one feature. A feature without an activator is only recorded. */
export interface FeatureActivator {
  /**
   * Turns the feature on, in the transaction that records it. Sets `isEnabled` in the section's settings, and queues jobs for
   * provider calls instead of making them. Must be idempotent.
   */
  activate(ctx: Context): Promise<void>
  /** The reason why the feature cannot be turned on now; null if it can. */
  findSkipReason?(ctx: Context): Promise<SkipReason | null>
}

/**
 * Turns features on and records them. Skips features with an unmet requirement and returns the reason for each. If the plan
 * does not include one of the features, refuses all. Must be called in a transaction.
 */
export async function activateFeatures(ctx: Context, features: readonly string[]): Promise<Activated> {
  const { features: included, planId } = await readEntitlement(ctx)
  const missing = features.filter((feature) => !included.has(feature))
  if (missing.length > 0) {
    throw refuse(
      'forbidden',
      `The plan ${getPlan(planId).name} does not include ${missing.join(', ')}: change the plan to use it`,
    )
  }
  await ctx.lockStore()
  const activated: Activated['activated'] = []
  const skipped: Activated['skipped'] = []
  for (const feature of features) {
    const reason = await findSkipReason(ctx, feature)
    if (reason) skipped.push({ feature, reason })
    else {
      await ctx.extensions.featureActivators[feature]?.activate(ctx)
      activated.push(feature)
    }
  }
  await changeOnboarding(ctx, (stored, now) => {
    const before = stored.activatedFeatures ?? []
    const added = activated.filter((feature) => !before.includes(feature))
    if (added.length === 0) return stored
    const featuresActivatedAt = stored.featuresActivatedAt ?? now
    return { ...stored, activatedFeatures: [...before, ...added], featuresActivatedAt, updatedAt: now }
  })
  return { activated, skipped, onboarding: await readOnboarding(ctx) }
}

/** The reason why a feature cannot be turned on now, whether or not it has an activator; null if it can. */
async function findSkipReason(ctx: Context, feature: string): Promise<SkipReason | null> {
  if (feature === 'stock-alerts') return (await hasPlatform(ctx)) ? null : 'platform-not-connected'
  if (feature === 'inbox') return (await hasOfficialNumber(ctx)) ? null : 'official-number-required'
  return (await ctx.extensions.featureActivators[feature]?.findSkipReason?.(ctx)) ?? null
}

async function hasPlatform(ctx: Context): Promise<boolean> {
  const found = await ctx.db
    .selectFrom('connections')
    .select('port')
    .where('port', '=', 'ecommerce')
    .where('connected_at', 'is not', null)
    .executeTakeFirst()
  return found !== undefined
}

async function hasOfficialNumber(ctx: Context): Promise<boolean> {
  const found = await ctx.db
    .selectFrom('messaging_connections')
    .select('type')
    .where('type', '=', 'official')
    .where('status', '=', 'connected')
    .executeTakeFirst()
  return found !== undefined
}
