import { type EcommerceSetting, ecommerceContract } from './ecommerce.contract.ts'
import { tiendanube } from './tiendanube.ts'
import { cancelOrder, fillCart, placeOrder, refundOrder } from './tiendanube-stand-in/orders.ts'

const open = async (): Promise<EcommerceSetting> => {
  const { standIn, shop, port, store } = await tiendanube()
  const read = async ({ id }: { id: number }) => (await port.getOrder(store, { id: String(id) }))!
  return {
    port,
    store,
    cannot: { searchBrands: true, readBirthdays: true, endCouponsExactly: true },
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
      return String(fillCart(shop, { ...input, ...(cartId ? { cartId } : {}) }).id)
    },
    async orderCart(cartId) {
      const checkout = shop.checkouts.find(({ id }) => String(id) === cartId)!
      const [line] = checkout.products
      const bought = { variantId: String(line!.variant_id), quantity: Number(line!.quantity) }
      return read(
        placeOrder(shop, { customerId: String(checkout.customer!.id), ...bought, checkoutId: cartId }),
      )
    },
    async delivery(order, url) {
      return standIn.deliveries('order/updated', Number(order.id), url)[0]!
    },
    async setDown(isDown) {
      standIn.isDown = isDown
    },
    close: () => standIn.close(),
  }
}

ecommerceContract('Tiendanube', open, { hasDiscounts: false })
