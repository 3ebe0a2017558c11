import { page } from '#runtime/page'
import { receiveHook } from '../receive.ts'

const bodyAtMost = 3 * 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/messaging/:provider',
  description:
    'What the messaging provider reports: statuses, messages of contacts, changes of numbers and templates.',
  trust: 'Signed by the provider: HMAC-SHA256 of the raw body with the app secret.',
  async handler(ctx, request) {
    const { headers, body } = await request.readSigned(bodyAtMost)
    await receiveHook(ctx, request.params.provider ?? '', headers, body)
    return new Response(null, { status: 200 })
  },
})
