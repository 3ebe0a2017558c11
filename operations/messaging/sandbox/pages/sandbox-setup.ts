import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { getSandbox } from '../../provider/sandbox.ts'
import { e164, goneAnswer, setupFields } from '../pages.ts'

const body = object({ setupUrl: z.string().min(1).max(2000), ...setupFields })

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/setup',
  description:
    "Ends the provider's setup of an official number; answers what would come back with the merchant.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const { setupUrl, phone, displayName, outcome } = await request.json(body)
    const { numbers } = getSandbox(ctx.adapters.messaging)
    const token = setupUrl.split('/').at(-1)!
    if (!(await numbers.findSetup(token))) throw refuse('not_found', 'setupUrl: there never was such a setup')
    const ended = await numbers.endSetup(token, { phone: e164(phone), displayName, outcome })
    if (!ended) return goneAnswer('setupUrl: the setup was used, replaced, or ran out')
    const { state, code, error } = ended
    return jsonAnswer({ state, code, error })
  },
})
