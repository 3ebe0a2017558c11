import { distinctList } from '#runtime/distinct-list'
import { instant, line, named, object, percent, text, writeBody, z } from '#runtime/schema'
import { allFeatures } from '../enums.ts'

const goals = [
  'recover-carts',
  'grow-contacts',
  'collect-reviews',
  'raise-order-value',
  'support-customers',
  'reduce-returns',
  'bring-back-visitors',
] as const
export type Goal = (typeof goals)[number]

const industries = [
  'fashion',
  'beauty',
  'home',
  'food',
  'electronics',
  'health',
  'pets',
  'toys',
  'other',
] as const
const orderVolumes = ['0-50', '51-200', '201-1000', '1001-5000', '5001+'] as const

const stepIds = [
  'platform',
  'answers',
  'features',
  'messaging',
  'automation',
  'popup',
  'team',
  'plan',
] as const
export type StepId = (typeof stepIds)[number]

const featureName = named('Feature', z.enum(allFeatures))
const once = 'must not name one twice'

const answers = {
  goals: distinctList(z.array(z.enum(goals)).max(goals.length), once),
  industry: z.enum(industries).nullable(),
  monthlyOrders: z.enum(orderVolumes).nullable(),
  hasMessagingNumber: z.boolean().nullable(),
  referralSource: line(1, 120).nullable(),
  notes: text(1, 1000).nullable(),
}

export type OnboardingAnswers = z.infer<z.ZodObject<typeof answers>>

export const onboarding = named(
  'Onboarding',
  object({
    status: z.enum(['not-started', 'in-progress', 'completed']),
    progress: percent.describe('Share of the required steps that are done'),
    completedAt: instant.nullable(),
    answers: object(answers),
    steps: z.array(
      object({
        id: z.enum(stepIds),
        isRequired: z.boolean(),
        isDone: z.boolean().describe('At this moment'),
        doneAt: instant.nullable(),
      }),
    ),
    recommendedFeatures: z.array(featureName).describe('Features that suit the goals and are in the plan'),
    activatedFeatures: z.array(featureName),
    updatedAt: instant,
  }),
  { volatileFields: ['status', 'progress', 'completedAt', 'steps', 'recommendedFeatures', 'updatedAt'] },
)

export type Onboarding = z.infer<typeof onboarding>

const someAnswers = object(answers).partial().strict()
export type AnswersPatch = z.infer<typeof someAnswers>

export const onboardingBody = writeBody({ answers: someAnswers }, [
  'status',
  'progress',
  'completedAt',
  'steps',
  'recommendedFeatures',
  'activatedFeatures',
  'updatedAt',
])

export const activation = object({
  features: distinctList(z.array(featureName).min(1).max(24), once),
})

const skipReason = z.enum(['platform-not-connected', 'official-number-required', 'return-address-required'])
export type SkipReason = z.infer<typeof skipReason>

export const activated = object({
  activated: z.array(featureName),
  skipped: z.array(object({ feature: featureName, reason: skipReason })),
  onboarding,
})
export type Activated = z.infer<typeof activated>
