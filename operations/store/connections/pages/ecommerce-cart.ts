import { jsonAnswer, page } from '#runtime/page'
import { answerCart } from '../ecommerce-cart.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider/:storeId/cart/:key',
  description: "Answers an ecommerce platform what a store's discounts take off a cart.",
  trust:
    'The key in the path is a signature of ours for this store. The answer says nothing but the discounts of the cart in the question.',
  async handler(ctx, request) {
    const { body } = await request.readSigned(bodyAtMost)
    const { provider = '', storeId = '', key = '' } = request.params
    const answer = await answerCart(ctx, { provider, storeId, key }, body)
    return jsonAnswer(answer, answer === null ? 204 : 200)
  },
})
