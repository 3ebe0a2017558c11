import { operation } from '#runtime/operation'
import { saveAnswers } from '../onboarding.ts'
import { onboarding, onboardingBody } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/onboarding',
  description: 'Save answers of the onboarding; those left out keep their value.',
  words: 'answer the first questions, goals, getting started',
  scopes: ['platform:write'],
  readOnly: false,
  input: { body: onboardingBody },
  answer: { status: 200, body: onboarding },
  etag: true,
  example: { body: { answers: { goals: ['recover-carts'], industry: 'home', monthlyOrders: '51-200' } } },
  handler: (ctx, { body }) => saveAnswers(ctx, body.answers ?? {}),
})
