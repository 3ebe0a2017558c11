import { operation } from '#runtime/operation'
import { activateFeatures } from '../activation.ts'
import { activated, activation } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/onboarding/activate-features',
  description: 'Turn on the features chosen in the onboarding.',
  details:
    'What is on already stays as it is. A feature that lacks what it needs is skipped: `stock-alerts` without a ' +
    'connected platform, `inbox` without a connected official number.',
  words: 'turn features on, getting started',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  input: { body: activation },
  answer: { status: 200, body: activated },
  refuses: { forbidden: 'One is not in the plan: nothing is turned on' },
  example: { body: { features: ['automations', 'newsletter'] } },
  handler: (ctx, { body }) => activateFeatures(ctx, body.features),
})
