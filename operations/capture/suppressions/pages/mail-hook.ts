import { jsonAnswer, page } from '#runtime/page'
import { receiveMailHook } from '../receive.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/mail/:provider',
  description:
    'Webhooks of the mail provider: bounces, spam complaints, and addresses that it delivers to again.',
  trust:
    'Authenticated as the provider documents it, with a password that the provider shares with MAIL_URL.',
  async handler(ctx, request) {
    const { headers, body } = await request.readSigned(bodyAtMost)
    const received = await receiveMailHook(ctx, request.params.provider ?? '', headers, body)
    return jsonAnswer({ received })
  },
})
