import { page } from '#runtime/page'
import { resolveReturn } from '../billing-return.ts'
import { renderReturnPage } from '../return-texts.ts'

export default page({
  method: 'GET',
  path: '/billing/return',
  description:
    'The page a payer returns to from the checkout: asks the provider, applies the result and shows it.',
  trust: 'The address is never trusted: it only names the object to read from the provider.',
  handler: async (ctx, request) => renderReturnPage(await resolveReturn(ctx, request.parameters())),
})
