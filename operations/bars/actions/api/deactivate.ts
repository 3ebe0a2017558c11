import { operation } from '#runtime/operation'
import { freeObject } from '#runtime/schema'
import { actionSettings, deactivateActions } from '../actions.ts'
import { actionBar } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/action-bar/deactivate',
  description: 'Turn the button banner off and change nothing else, whatever is stored or sent.',
  words: 'take the bar of buttons off',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'storefront-bars',
  input: { body: freeObject },
  answer: { status: 200, body: actionBar },
  etag: true,
  ifMatch: ['/action-bar/settings'],
  async handler(ctx) {
    await deactivateActions(ctx)
    return actionSettings.read(ctx)
  },
})
