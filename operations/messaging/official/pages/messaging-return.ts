import { page } from '#runtime/page'
import { finishReturn } from '../return-page.ts'

export default page({
  method: 'GET',
  path: '/messaging/return',
  description: "The return page of the provider's setup of an official number; confirms it.",
  trust: 'The state in the address: 32 random bytes of one setup, which ends with it.',
  handler: (ctx, request) => finishReturn(ctx, request.parameters()),
})
