import { page } from '#runtime/page'
import { finishReturn } from '../return.ts'

export default page({
  method: 'POST',
  path: '/messaging/return',
  description: 'What the merchant answers where the setup of an official number asked them; goes on with it.',
  trust: 'The state in the form: 32 random bytes of one setup, which ends with it.',
  async handler(ctx, request) {
    return finishReturn(ctx, new URLSearchParams(await request.fields()))
  },
})
