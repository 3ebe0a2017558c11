/** The onboarding checklist: stored answers, and steps computed from the store's current state (rule 13). */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { leastKnown } from '#runtime/database/sql'
import { featureSet } from '../plans.ts'
import { isSameJson } from '../preferences.ts'
import { planIdSql } from '../quota/entitlement.ts'
import { onboardingCompletedAt, requiredEvidence, type StoredOnboarding } from './evidence.ts'
import type { AnswersPatch, Goal, Onboarding, OnboardingAnswers, StepId } from './schema.ts'

/** Optional steps computed by other sections. `automation`: an automation is active. `popup`: the popup is turned on. */
export const externalSteps = ['automation', 'popup'] as const satisfies StepId[]
/** Returns when such a step was done; null if it is not done. Must not write. */
export type StepEvidence = (ctx: Context) => Promise<Date | null>

const requiredSteps: readonly StepId[] = ['platform', 'answers', 'features', 'messaging']

interface Facts {
  onboarding: StoredOnboarding
  plan_id: string
  created_at: Date
  completed_at: Date | null
  platform: Date | null
  answers: Date | null
  features: Date | null
  messaging: Date | null
  team: Date | null
  plan: Date | null
}

const findFacts = prepared<{ now: Date }, Facts>((db, values) => {
  const { platform, answers, features, messaging } = requiredEvidence(db)
  const secondMember = db
    .selectFrom('memberships as m')
    .select('m.joined_at')
    .where('m.removed_at', 'is', null)
    .orderBy('m.joined_at')
    .offset(sql<number>`1`)
    .limit(sql<number>`1`)
  const firstInvitation = db
    .selectFrom('invitations as i')
    .select(sql`min(i.created_at)`.as('at'))
    .where('i.status', '=', 'pending')
    .where('i.expires_at', '>', sql<Date>`${values.now}::timestamptz`)
  const firstPayment = db.selectFrom('payments as y').select(sql`min(y.paid_at)`.as('at'))
  return db
    .selectFrom('stores as s')
    .innerJoin('subscriptions as b', (join) => join.onTrue())
    .select([
      sql<StoredOnboarding>`s.onboarding`.as('onboarding'),
      planIdSql(values.now).as('plan_id'),
      's.created_at',
      onboardingCompletedAt(db).as('completed_at'),
      platform.as('platform'),
      answers.as('answers'),
      features.as('features'),
      messaging.as('messaging'),
      leastKnown<Date | null>(sql`(${secondMember})`, sql`(${firstInvitation})`).as('team'),
      // Without a payment, the provider shows that there is an agreement: its first charge may have been covered by credit.
      sql<Date | null>`coalesce((${firstPayment}), case when b.provider is not null then b.anchor_at end)`.as(
        'plan',
      ),
    ])
})

/** Reads the current checklist. Writes nothing. */
export async function readOnboarding(ctx: Context): Promise<Onboarding> {
  const [facts] = await findFacts(ctx, { now: ctx.now() })
  const { platform, answers, features, messaging, team, plan, onboarding: stored } = facts!
  const { evidence } = ctx.extensions
  const automation = (await evidence.automation?.(ctx)) ?? null
  const popup = (await evidence.popup?.(ctx)) ?? null
  const done = { platform, answers, features, messaging, automation, popup, team, plan }
  const steps = (Object.entries(done) as [StepId, Date | null][]).map(([id, doneAt]) => ({
    id,
    isRequired: requiredSteps.includes(id),
    isDone: doneAt !== null,
    doneAt: doneAt?.toISOString() ?? null,
  }))
  const requiredDone = steps.filter((step) => step.isRequired && step.isDone).length
  return {
    status: findStatus(requiredDone, steps.some((step) => step.isDone) || hasAnswers(stored)),
    progress: (requiredDone * 100) / requiredSteps.length,
    completedAt: facts!.completed_at?.toISOString() ?? null,
    answers: withDefaultAnswers(stored),
    steps,
    recommendedFeatures: recommendFeatures(withDefaultAnswers(stored).goals, facts!.plan_id),
    activatedFeatures: stored.activatedFeatures ?? [],
    updatedAt: findUpdatedAt(stored, facts!.created_at),
  }
}

function findStatus(requiredDone: number, isBegun: boolean): Onboarding['status'] {
  if (requiredDone === requiredSteps.length) return 'completed'
  return isBegun ? 'in-progress' : 'not-started'
}

const emptyAnswers: OnboardingAnswers = {
  goals: [],
  industry: null,
  monthlyOrders: null,
  hasMessagingNumber: null,
  referralSource: null,
  notes: null,
}
const withDefaultAnswers = (stored: StoredOnboarding): OnboardingAnswers => ({
  ...emptyAnswers,
  ...stored.answers,
})
const hasAnswers = (stored: StoredOnboarding): boolean =>
  !isSameJson(withDefaultAnswers(stored), emptyAnswers)

function findUpdatedAt(stored: StoredOnboarding, createdAt: Date): string {
  const known = [stored.updatedAt, stored.answersSavedAt, stored.featuresActivatedAt].filter(Boolean)
  return (known as string[]).sort().at(-1) ?? createdAt.toISOString()
}

const featuresByGoal: Record<Goal, readonly string[]> = {
  'recover-carts': ['automations', 'messaging'],
  'grow-contacts': ['newsletter', 'contact-form'],
  'collect-reviews': ['reviews', 'testimonials'],
  'raise-order-value': ['promotions', 'bundles', 'cart-gifts', 'storefront-bars'],
  'support-customers': ['inbox', 'messaging'],
  'reduce-returns': ['size-guides', 'exchanges'],
  'bring-back-visitors': ['stock-alerts', 'wishlist'],
}

function recommendFeatures(goals: readonly string[], planId: string): string[] {
  const included = featureSet(planId)
  const names = goals.flatMap((goal) => featuresByGoal[goal as Goal] ?? [])
  return [...new Set(names)].filter((name) => included.has(name))
}

/** Saves answers and returns the checklist. Omitted answers keep their value. Must be called in a transaction. */
export async function saveAnswers(ctx: Context, patch: AnswersPatch): Promise<Onboarding> {
  await changeOnboarding(ctx, (stored, now) => {
    const answers = Object.assign(withDefaultAnswers(stored), patch)
    if (isSameJson(answers, withDefaultAnswers(stored))) return stored
    const answersSavedAt = answers.goals.length > 0 ? (stored.answersSavedAt ?? now) : null
    return { ...stored, answers, answersSavedAt, updatedAt: now }
  })
  return readOnboarding(ctx)
}

/**
 * Changes the stored onboarding under the store's lock. Writes nothing if `change` returns the same object. If all required
 * steps are done for the first time, records when.
 */
export async function changeOnboarding(
  ctx: Context,
  change: (stored: StoredOnboarding, now: string) => StoredOnboarding,
): Promise<void> {
  await ctx.lockStore()
  const { onboarding } = await ctx.db.selectFrom('stores').select('onboarding').executeTakeFirstOrThrow()
  const stored = onboarding as StoredOnboarding
  const next = change(stored, ctx.now().toISOString())
  if (next === stored) return
  await ctx.db
    .updateTable('stores')
    .set({ onboarding: JSON.stringify(next) })
    .execute()
  const done = await ctx.db
    .selectFrom('stores as s')
    .select(onboardingCompletedAt(ctx.db).as('at'))
    .where('s.onboarding_completed_at', 'is', null)
    .executeTakeFirst()
  if (!done?.at) return
  await ctx.db
    .updateTable('stores')
    .set({ onboarding_completed_at: done.at, updated_at: ctx.now() })
    .execute()
}
