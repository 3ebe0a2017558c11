import { operation } from '#runtime/operation'
import { readLook, revalidateLook } from '../looks.ts'
import { look } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/shop-the-look/looks/:id/revalidate',
  description: "Check a look's items against your platform now.",
  details: 'A platform that asks to slow down is waited for a short while.',
  words: 'check an outfit again, stock is back',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'shop-the-look',
  answer: { status: 200, body: look },
  refuses: {
    not_found: 'There is no such look',
    conflict: 'No platform is connected',
    unavailable: 'The platform does not answer; the last check stands',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { params }) => readLook(ctx, params.id) },
  async handler(ctx, { params }) {
    await revalidateLook(ctx, params.id)
    return readLook(ctx, params.id)
  },
})
