import { operation } from '#runtime/operation'
import { readOnboarding } from '../onboarding.ts'
import { onboarding } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/onboarding',
  description: 'Get the onboarding checklist: the answers, and which steps are done now.',
  words: 'first steps, what is left to do, getting started, setup checklist',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: onboarding },
  etag: true,
  handler: (ctx) => readOnboarding(ctx),
})
