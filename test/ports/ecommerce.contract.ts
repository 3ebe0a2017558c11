import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cart, EcommercePort, PlatformOrder } from '#operations/store/ecommerce/port'
import type { ProviderStore } from '#runtime/ports/provider'
import { testsBeginAt } from '#test/support/test-clock'
import { discountContract } from './ecommerce-discounts.contract.ts'

/** The shop that the contract needs, filled by each adapter's test. Amounts in the shop's currency. */
export const aShop = {
  categories: [
    { id: '301', name: 'Casa' },
    { id: '302', name: 'Cozinha', parentId: '301' },
    { id: '303', name: 'Vestuário' },
  ],
  products: [
    {
      id: '1001',
      name: 'Caneca Ágata',
      brand: 'Nórdica',
      tags: ['café', 'presente'],
      categoryIds: ['302'],
      variants: [
        { id: '2001', name: 'Azul', sku: 'CAN-AZ', price: 59.9, compareAtPrice: 79.9, stock: 3 },
        { id: '2002', name: 'Verde', sku: 'CAN-VE', price: 64.9, stock: 0 },
      ],
    },
    {
      id: '1002',
      name: 'Avental',
      brand: 'Sul',
      tags: [],
      categoryIds: ['302', '303'],
      variants: [{ id: '2003', sku: 'AVE-1', price: 120, stock: 0 }],
    },
    {
      id: '1003',
      name: 'cartão-presente',
      tags: ['vale'],
      categoryIds: [],
      isPublished: false,
      variants: [{ id: '2004', sku: null, price: 10, stock: null }],
    },
  ],
  customers: [
    {
      id: '5001',
      name: 'Ana',
      email: 'ana@example.com',
      phone: '(11) 98888-7777',
      birthDate: '1990-11-20',
    },
    { id: '5002', name: 'Rui', email: 'rui@example.com', birthDate: '1985-02-28', acceptsMarketing: false },
    { id: '5003', name: 'Zoe', email: null, phone: null },
  ],
} as const

export interface EcommerceSetting {
  port: EcommercePort
  store: ProviderStore
  /** Documented limitations of the platform, which the contract does not test. */
  cannot?: {
    /** Categories have no parents. */
    nestCategories?: boolean
    /** Counts every order of a customer, including unpaid and cancelled ones. */
    countOnlyPaid?: boolean
    /** A quantity promotion needs named categories or products. */
    discountEverything?: boolean
    /** A search looks at no brands. */
    searchBrands?: boolean
    /** Reports no birthdays. */
    readBirthdays?: boolean
    /** A coupon ends with a day, at the promised instant or later. */
    endCouponsExactly?: boolean
  }
  /** Places an order of `aShop` and answers it. */
  order(input: {
    customerId: string
    variantId: string
    quantity: number
    placedAt?: string
    paymentStatus?: PlatformOrder['paymentStatus']
  }): Promise<PlatformOrder>
  refund(orderId: string, amount: number): Promise<PlatformOrder>
  /** Adds to a cart, or changes the named one. Answers its id. */
  cart(input: { customerId: string; variantId: string; quantity: number; cartId?: string }): Promise<string>
  /** Turns the cart into an order. */
  orderCart(cartId: string): Promise<PlatformOrder>
  cancel(orderId: string): Promise<PlatformOrder>
  /** The platform's webhook request to `url` when this order changes. */
  delivery(order: PlatformOrder, url: string): Promise<{ headers: Headers; body: Uint8Array }>
  /** Turns the platform off or on. */
  setDown(isDown: boolean): Promise<void>
  close(): Promise<void>
}

const all = { sort: 'name', page: 1, limit: 20 } as const

/** All pages, by cursor, as one list. */
async function readAllPages<T>(
  read: (cursor: { cursor?: string }) => Promise<{ rows: readonly T[]; next: string | null }>,
): Promise<T[]> {
  const seen: T[] = []
  let cursor: string | undefined
  do {
    const { rows, next } = await read(cursor ? { cursor } : {})
    seen.push(...rows)
    cursor = next ?? undefined
  } while (cursor)
  return seen
}

/** The contract of every ecommerce adapter, for a shop filled with `aShop` and without orders. */
export function ecommerceContract(name: string, open: () => Promise<EcommerceSetting>): void {
  describe(`ecommerce port: ${name}`, () => {
    let setting: EcommerceSetting
    let port: EcommercePort
    let store: ProviderStore
    beforeAll(async () => {
      setting = await open()
      port = setting.port
      store = setting.store
    })
    afterAll(() => setting.close())

    const found = async (query: Partial<Parameters<EcommercePort['searchProducts']>[1]>) =>
      (await port.searchProducts(store, { ...all, ...query })).products.map((product) => product.id)

    test('a check names the shop', async () => {
      expect(await port.check(store)).toEqual({
        platformStoreId: expect.any(String),
        name: expect.any(String),
        domain: expect.stringMatching(/^[a-z0-9.-]+$/),
        country: expect.stringMatching(/^[A-Z]{2}$/),
        currency: expect.stringMatching(/^[A-Z]{3}$/),
        timezone: expect.stringContaining('/'),
      })
    })

    test('a product has the price of its cheapest variant and the stock of all', async () => {
      const [mug] = await port.getProducts(store, { ids: ['1001'] })
      expect(mug).toMatchObject({
        id: '1001',
        name: 'Caneca Ágata',
        brand: 'Nórdica',
        tags: ['café', 'presente'],
        categories: [{ id: '302', name: 'Cozinha' }],
        price: 59.9,
        compareAtPrice: 79.9,
        stock: 3,
        isPublished: true,
        variants: [
          { id: '2001', name: 'Azul', sku: 'CAN-AZ', price: 59.9, stock: 3, isAvailable: true },
          { id: '2002', name: 'Verde', sku: 'CAN-VE', price: 64.9, stock: 0, isAvailable: false },
        ],
      })
      const [card] = await port.getProducts(store, { ids: ['1003'] })
      expect(card).toMatchObject({ stock: null, isPublished: false, compareAtPrice: null })
    })

    test.each([
      ['a name, without case and accents', 'AGATA', ['1001']],
      ['an SKU', 'can-ve', ['1001']],
      ['a tag', 'cafe', ['1001']],
      ['a brand', 'nordica', ['1001']],
      ['a name without accents by one with them', 'avêntal', ['1002']],
      ['nothing in the pattern characters', '%', []],
    ])('search finds %s', async (what, search, ids) => {
      const isBeyond = what === 'a brand' && setting.cannot?.searchBrands
      expect(await found({ search })).toEqual(isBeyond ? [] : ids)
    })

    test('filters', async () => {
      expect(await found({ categoryId: '302' })).toEqual(['1002', '1001'])
      expect(await found({ categoryId: '999' })).toEqual([])
      expect(await found({ ids: ['1003', '1001', 'sandbox-missing'] })).toEqual(['1001', '1003'])
      expect(await found({ inStock: true })).toEqual(['1001', '1003'])
      expect(await found({ inStock: false })).toEqual(['1002'])
      expect(await found({ isPublished: true })).toEqual(['1002', '1001'])
      expect(await found({ isPublished: false, search: 'presente' })).toEqual(['1003'])
    })

    test('sorting and paging neither skip nor repeat', async () => {
      expect(await found({ sort: 'price' })).toEqual(['1003', '1001', '1002'])
      expect(await found({ sort: '-price' })).toEqual(['1002', '1001', '1003'])
      const first = await port.searchProducts(store, { sort: 'name', page: 1, limit: 2 })
      const second = await port.searchProducts(store, { sort: 'name', page: 2, limit: 2 })
      expect([first.total, second.total]).toEqual([3, 3])
      expect([...first.products, ...second.products].map((product) => product.name)).toEqual([
        'Avental',
        'Caneca Ágata',
        'cartão-presente',
      ])
    })

    test('products are read by id, in the requested order, without missing ones', async () => {
      const products = await port.getProducts(store, { ids: ['1002', 'sandbox-missing', '1001'] })
      expect(products.map((product) => product.id)).toEqual(['1002', '1001'])
      expect(await port.getProducts(store, { ids: [] })).toEqual([])
    })

    test('categories come in tree order, with their path and count', async () => {
      const categories = await port.listCategories(store)
      expect(
        categories.map(({ id, parentId, path, productCount }) => [id, parentId, path, productCount]),
      ).toEqual([
        ['301', null, 'Casa', 0],
        setting.cannot?.nestCategories ? ['302', null, 'Cozinha', 2] : ['302', '301', 'Casa > Cozinha', 2],
        ['303', null, 'Vestuário', 1],
      ])
      for (const { url, handle } of categories) expect(url).toMatch(new RegExp(`^https://.+/${handle}$`))
    })

    test('orders are read by id, by number, and as they change', async () => {
      const since = new Date(testsBeginAt.getTime() - 366 * 86_400_000)
      const first = await setting.order({ customerId: '5001', variantId: '2001', quantity: 2 })
      expect(first).toMatchObject({
        status: 'open',
        paymentStatus: 'paid',
        fulfillmentStatus: 'unfulfilled',
        subtotal: '119.80',
        refundedTotal: '0.00',
        customer: { id: '5001', name: 'Ana', email: 'ana@example.com', phone: '+5511988887777' },
        items: [{ productId: '1001', variantId: '2001', quantity: 2, unitPrice: '59.90', total: '119.80' }],
      })
      const unpaid = await setting.order({
        customerId: '5001',
        variantId: '2003',
        quantity: 1,
        paymentStatus: 'pending',
      })
      expect(unpaid.paidAt).toBeNull()
      expect(await port.getOrder(store, { id: first.id })).toEqual(first)
      expect(await port.getOrder(store, { number: first.number })).toEqual(first)
      expect(await port.getOrder(store, { id: 'nobody-placed-this' })).toBeNull()

      const changed = await setting.refund(first.id, 19.8)
      expect(changed).toMatchObject({ paymentStatus: 'partially-refunded', refundedTotal: '19.80' })
      expect(changed.updatedAt > first.updatedAt).toBe(true)
      const { orders } = await port.listOrders(store, { updatedSince: since })
      expect(orders.find((order) => order.id === first.id)).toEqual(changed)
      const late = await port.listOrders(store, { updatedSince: new Date(Date.parse(changed.updatedAt) + 1) })
      expect(late.orders.map((order) => order.id)).not.toContain(changed.id)
    })

    test('a walk over many orders sees each once, the oldest change first', async () => {
      const placed: string[] = []
      for (let i = 0; i < 130; i += 1) {
        placed.push((await setting.order({ customerId: '5003', variantId: '2004', quantity: 1 })).id)
      }
      const seen = await readAllPages(async (cursor) => {
        const { orders, next } = await port.listOrders(store, { updatedSince: new Date(0), ...cursor })
        return { rows: orders, next }
      })
      const ids = seen.map((order) => order.id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toEqual(expect.arrayContaining(placed))
      const instants = seen.map((order) => order.updatedAt)
      expect(instants).toEqual([...instants].sort())
    })

    test('customers carry the totals of their counted orders', async () => {
      const placedAt = '2026-03-01T10:00:00.000Z'
      await setting.order({ customerId: '5002', variantId: '2003', quantity: 1, placedAt })
      const kept = await setting.order({
        customerId: '5002',
        variantId: '2001',
        quantity: 1,
        placedAt: '2026-04-01T10:00:00.000Z',
      })
      await setting.refund(kept.id, 9.9)
      await setting.order({ customerId: '5002', variantId: '2003', quantity: 1, paymentStatus: 'pending' })
      const gone = await setting.order({ customerId: '5002', variantId: '2003', quantity: 1 })
      await setting.cancel(gone.id)

      const customers = await readAllPages(async (cursor) => {
        const page = await port.listCustomers(store, { limit: 2, ...cursor })
        expect(page.customers.length).toBeLessThanOrEqual(2)
        return { rows: page.customers, next: page.next }
      })
      expect(customers.map((customer) => customer.id)).toEqual(['5001', '5002', '5003'])
      expect(customers[1]).toEqual({
        id: '5002',
        name: 'Rui',
        email: 'rui@example.com',
        phone: null,
        birthDate: setting.cannot?.readBirthdays ? null : '1985-02-28',
        ordersCount: setting.cannot?.countOnlyPaid ? 4 : 2,
        totalSpent: setting.cannot?.countOnlyPaid ? '290.00' : '170.00',
        firstOrderAt: placedAt,
        lastOrderAt: setting.cannot?.countOnlyPaid ? expect.any(String) : '2026-04-01T10:00:00.000Z',
        acceptsMarketing: false,
      })
      const born = await port.listCustomers(store, { limit: 10, birthdays: ['11-20', '11-21'] })
      expect(born.customers.map((customer) => customer.id)).toEqual(
        setting.cannot?.readBirthdays ? [] : ['5001'],
      )
      expect(born.next).toBeNull()
    })

    const walkCarts = (updatedSince: Date): Promise<Cart[]> =>
      readAllPages(async (cursor) => {
        const { carts, next } = await port.listCarts(store, { updatedSince, ...cursor })
        return { rows: carts, next }
      })

    test('carts are read as they change, each once, and name the order they became', async () => {
      const line = { customerId: '5001', variantId: '2001', quantity: 2 }
      const cartId = await setting.cart(line)
      const ids = [cartId]
      for (let i = 0; i < 104; i += 1) ids.push(await setting.cart({ ...line, quantity: 1 }))
      const all = await walkCarts(new Date(0))
      expect(all.map((cart) => cart.id).sort()).toEqual([...ids].sort())
      const first = all.find((cart) => cart.id === cartId)!
      expect(first).toMatchObject({
        customer: { id: '5001', name: 'Ana', email: 'ana@example.com', phone: '+5511988887777' },
        items: [{ productId: '1001', variantId: '2001', quantity: 2, unitPrice: '59.90', total: '119.80' }],
        total: '119.80',
        url: expect.stringMatching(/^https:/),
        orderId: null,
      })
      await setting.cart({ ...line, cartId, quantity: 3 })
      const changed = (await walkCarts(new Date(0))).find((cart) => cart.id === cartId)!
      expect(changed).toMatchObject({ total: '179.70', items: [{ quantity: 3 }] })
      expect(changed.lastActivityAt > first.lastActivityAt).toBe(true)
      const order = await setting.orderCart(cartId)
      expect(order.cartId).toBe(cartId)
      const ordered = (await walkCarts(new Date(Date.parse(changed.lastActivityAt)))).find(
        (cart) => cart.id === cartId,
      )!
      expect(ordered.orderId).toBe(order.id)
    })

    test('an unknown cursor is refused', async () => {
      const refused = { name: 'Refused', code: 'bad-cursor' }
      const cursor = 'none-of-yours'
      const since = { updatedSince: new Date(0), cursor }
      await expect(port.listOrders(store, since)).rejects.toMatchObject(refused)
      await expect(port.listCarts(store, since)).rejects.toMatchObject(refused)
      await expect(port.listCustomers(store, { limit: 1, cursor })).rejects.toMatchObject(refused)
    })

    test('a script is installed once', async () => {
      const src = 'https://api.example.com/storefront/abc/loader.js'
      const first = await port.ensureScript(store, { src })
      expect(await port.ensureScript(store, { src })).toEqual(first)
      const scripts = (await port.listScripts(store)).filter((script) => script.src === src)
      // If the owner activates it, there is a link instead of a script.
      if (first.id === null) expect(await port.activationLink!(store)).toMatch(/^https:/)
      expect(scripts).toEqual(first.id === null ? [] : [{ id: first.id, src, createdAt: expect.any(Date) }])
    })

    test('a coupon is created once; its code is unchanged', async () => {
      const coupon = {
        code: 'PRIMEIRA-10',
        type: 'percentage',
        value: '10.00',
        minimumAmount: null,
        usageLimit: 1,
        endsAt: '2031-01-01T00:00:00.000Z',
      } as const
      const first = await port.ensureCoupon(store, coupon)
      const { code: _code, ...terms } = coupon
      const endsAt = setting.cannot?.endCouponsExactly ? expect.any(String) : coupon.endsAt
      expect(first).toEqual({ id: expect.any(String), terms: { ...terms, endsAt } })
      expect(Date.parse(first.terms!.endsAt!)).toBeGreaterThanOrEqual(Date.parse(coupon.endsAt))
      expect(await port.ensureCoupon(store, { ...coupon, value: '50.00' })).toEqual(first)
      const other = await port.ensureCoupon(store, {
        ...coupon,
        code: 'FRETE',
        type: 'free-shipping',
        value: null,
      })
      expect(other.id).not.toBe(first.id)
      expect(await port.ensureCoupon(store, { ...coupon, code: 'primeira-10' })).toEqual(first)
      const amount = { code: 'DEZ', type: 'amount', value: '10.00', minimumAmount: '50.00' } as const
      const made = await Promise.all([1, 2].map(() => port.ensureCoupon(store, { ...coupon, ...amount })))
      expect(made[0]).toEqual(made[1])
      const over = port.ensureCoupon(store, { ...coupon, code: 'MUITO', value: '101.00' })
      await expect(over).rejects.toMatchObject({ name: 'Refused' })
    })

    test('a revoked coupon is gone, and its code free; an unknown one is no error', async () => {
      const coupon = {
        code: 'BACK-REVOKE',
        type: 'percentage',
        value: '90.00',
        minimumAmount: null,
        usageLimit: 1,
        endsAt: '2031-01-01T00:00:00.000Z',
      } as const
      await port.ensureCoupon(store, coupon)
      await port.revokeCoupon(store, coupon.code)
      await port.revokeCoupon(store, coupon.code)
      const { terms } = await port.ensureCoupon(store, { ...coupon, value: '9.00' })
      expect(terms).toMatchObject({ value: '9.00' })
    })

    test('a webhook is registered once per topic and address, and its deliveries are parsed', async () => {
      const webhook = {
        topic: 'order.updated',
        url: 'https://api.example.com/hooks/ecommerce/x/y',
        secret: 'a secret of ours',
      } as const
      const first = await port.registerWebhook(store, webhook)
      expect(first.created).toBe(true)
      expect(await port.registerWebhook(store, webhook)).toEqual({ ...first, created: false })
      const other = await port.registerWebhook(store, { ...webhook, topic: 'stock.updated' })
      expect(other.webhookId).not.toBe(first.webhookId)

      const order = await setting.order({ customerId: '5001', variantId: '2004', quantity: 1 })
      const { headers, body } = await setting.delivery(order, webhook.url)
      // Some platforms sign with their own secret.
      const secret = port.webhookSecret?.(store) ?? webhook.secret
      const events = port.parseWebhook(headers, body, secret)
      expect(events).toHaveLength(1)
      expect(events[0]).toMatchObject({
        kind: 'order.updated',
        key: expect.any(String),
        occurredAt: expect.stringMatching(/^\d{4}-.+Z$/),
        data: { id: order.id },
      })
      expect(port.parseWebhook(headers, body, secret)).toEqual(events)
      const refused = { name: 'Refused', code: 'bad-signature' }
      const parse = (h: Headers, b: Uint8Array, secret: string) => () => port.parseWebhook(h, b, secret)
      expect(parse(headers, body, 'another secret')).toThrow(expect.objectContaining(refused))
      expect(parse(new Headers(), body, secret)).toThrow(expect.objectContaining(refused))
      const changed = new Uint8Array(body)
      changed[changed.length - 2] = 32
      expect(parse(headers, changed, secret)).toThrow(expect.objectContaining(refused))
    })

    test('a platform that does not answer is Unavailable, and nothing was changed', async () => {
      await setting.setDown(true)
      const unavailable = { name: 'Unavailable', accepted: 'no' }
      await expect(port.check(store)).rejects.toMatchObject(unavailable)
      await expect(port.searchProducts(store, all)).rejects.toMatchObject(unavailable)
      await expect(port.listCustomers(store, { limit: 1 })).rejects.toMatchObject(unavailable)
      const src = 'https://api.example.com/late.js'
      await expect(port.ensureScript(store, { src })).rejects.toMatchObject(unavailable)
      await setting.setDown(false)
      expect((await port.listScripts(store)).map((script) => script.src)).not.toContain(src)
    })

    discountContract(() => setting)
  })
}
