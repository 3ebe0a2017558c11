import { ecommerceContract } from './ecommerce.contract.ts'
import { shopify } from './shopify.ts'
import { cancelOrder, fillCart, placeOrder, refundOrder } from './shopify-stand-in/orders.ts'
import type { StoredOrder } from './shopify-stand-in/shop.ts'

ecommerceContract('Shopify', async () => {
  const { standIn, shop, port, store } = await shopify()
  const read = async ({ id }: Pick<StoredOrder, 'id'>) => (await port.getOrder(store, { id: String(id) }))!
  return {
    port,
    store,
    cannot: { nestCategories: true, countOnlyPaid: true, discountEverything: true },
    order: ({ paymentStatus, ...input }) =>
      read(placeOrder(shop, { ...input, isPaid: paymentStatus !== 'pending' })),
    async refund(orderId, amount) {
      refundOrder(shop, shop.order(orderId), amount)
      return read(shop.order(orderId))
    },
    async cancel(orderId) {
      cancelOrder(shop, shop.order(orderId))
      return read(shop.order(orderId))
    },
    async cart({ cartId, ...input }) {
      return String(fillCart(shop, { ...input, ...(cartId ? { checkoutId: cartId } : {}) }).id)
    },
    async orderCart(cartId) {
      const checkout = shop.checkouts.find(({ id }) => String(id) === cartId)!
      const [line] = checkout.lines
      const bought = { variantId: String(line!.variant_id), quantity: line!.quantity }
      return read(placeOrder(shop, { customerId: String(checkout.customer!.id), ...bought, checkout }))
    },
    async delivery(order, url) {
      return standIn.deliveries('orders/updated', shop.order(order.id), url)[0]!
    },
    async setDown(isDown) {
      standIn.isDown = isDown
    },
    close: () => standIn.close(),
  }
})
