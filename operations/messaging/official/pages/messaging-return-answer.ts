import { page } from '#runtime/page'
import { finishReturn } from '../return-page.ts'

export default page({
  method: 'POST',
  path: '/messaging/return',
  description: "Continues the setup of an official number with the merchant's answer to its question.",
  trust: 'The state in the form: 32 random bytes of one setup, which ends with it.',
  async handler(ctx, request) {
    return finishReturn(ctx, new URLSearchParams(await request.fields()))
  },
})
