import { page } from '#runtime/page'
import { finishInstall } from '../install.ts'

export default page({
  method: 'GET',
  path: '/ecommerce/return/:provider',
  description:
    "The page to which an ecommerce platform redirects a shop's owner after they granted access; connects the shop.",
  trust:
    "Signed by the platform with the app's secret; the state in the address is signed by us for one store and one shop, and works once.",
  handler: (ctx, request) => finishInstall(ctx, request.params.provider ?? '', request.parameters()),
})
