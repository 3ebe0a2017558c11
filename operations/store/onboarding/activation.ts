/** Turning on the features chosen in the onboarding (rule 13). */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { planOf } from '../plans.ts'
import { entitlementOf } from '../quota/entitlement.ts'
import { changeOnboarding, readOnboarding } from './onboarding.ts'
import type { Activated, SkipReason } from './schema.ts'

/** Of a feature; one without a switch is recorded only. */
export interface Switch {
  /**
   * Turns it on, in the transaction that records it: `isEnabled` of the section's settings, and jobs for whatever a
   * provider has to do. Run again where the feature is on already, it must change nothing.
   */
  activate(ctx: Context): Promise<void>
  /** Why it cannot be turned on now, null when it can. */
  lacks?(ctx: Context): Promise<SkipReason | null>
}

/**
 * Turns features on and records them; those that lack what they need are skipped, each with its reason. Called in a
 * transaction. Refuses, turning nothing on, when the plan does not include one.
 */
export async function activateFeatures(ctx: Context, features: readonly string[]): Promise<Activated> {
  const { features: included, planId } = await entitlementOf(ctx)
  const missing = features.filter((feature) => !included.has(feature))
  if (missing.length > 0) {
    throw refuse(
      'forbidden',
      `The plan ${planOf(planId).name} does not include ${missing.join(', ')}: change the plan to use it`,
    )
  }
  await ctx.lockStore()
  const activated: Activated['activated'] = []
  const skipped: Activated['skipped'] = []
  for (const feature of features) {
    const reason = await skipReason(ctx, feature)
    if (reason) skipped.push({ feature, reason })
    else {
      await ctx.wired.switches[feature]?.activate(ctx)
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

/** Why a feature cannot be turned on now; null when it can. */
async function skipReason(ctx: Context, feature: string): Promise<SkipReason | null> {
  if (feature === 'stock-alerts') return (await hasPlatform(ctx)) ? null : 'platform-not-connected'
  if (feature === 'inbox') return (await hasOfficialNumber(ctx)) ? null : 'official-number-required'
  return (await ctx.wired.switches[feature]?.lacks?.(ctx)) ?? null
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
