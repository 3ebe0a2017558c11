import { page } from '#runtime/page'
import { returnedFromProvider } from '../billing-return.ts'
import { returnPage } from '../return-texts.ts'

export default page({
  method: 'GET',
  path: '/billing/return',
  description:
    'Where a payer comes back to from the checkout: asks the provider, applies the result and shows it.',
  trust: 'What the address says is never believed: it only names what to ask the provider about.',
  handler: async (ctx, request) => returnPage(await returnedFromProvider(ctx, request.parameters())),
})
