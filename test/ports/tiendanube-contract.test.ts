import { createStore } from '#scripts/admin/create-store'
import { freshDatabase } from '#test/support/app'
import { frozenClock } from '#test/support/test-clock'
import { ecommerceContract } from './ecommerce.contract.ts'
import { tiendanube } from './tiendanube.ts'
import { cancelOrder, fillCart, placeOrder, refundOrder } from './tiendanube-stand-in/orders.ts'

ecommerceContract('Tiendanube', async () => {
  const { database } = await freshDatabase()
  const clock = frozenClock()
  const { id } = await createStore(database, clock.now(), {
    slug: 'nuvem',
    name: 'Nuvem',
    owner: 'owner@example.com',
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
  })
  const at = clock.now()
  const connection = { store_id: id, port: 'ecommerce', provider: 'tiendanube', connected_at: at }
  await database.root
    .insertInto('connections')
    .values({ ...connection, created_at: at, updated_at: at, settings: '{}' })
    .execute()
  const { standIn, shop, port, ...opened } = await tiendanube({ clock, db: database.root })
  const store = { ...opened.store, id }
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
    async close() {
      await standIn.close()
      await database.close()
    },
  }
})
