import { page } from '#runtime/page'
import { finishInstall } from '../install.ts'

export default page({
  method: 'GET',
  path: '/ecommerce/return/:provider',
  description: "Where an ecommerce platform leads a shop's owner back to who let us in; connects the shop.",
  trust:
    "Signed by the platform with the app's secret; the state in the address is signed by us for one store and one shop, and is good once.",
  handler: (ctx, request) => finishInstall(ctx, request.params.provider ?? '', request.parameters()),
})
