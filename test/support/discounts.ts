/** A connected store with its discounts on both sides, and a platform whose answers can be delayed. */
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { listSandboxDiscounts } from '#operations/store/ecommerce/sandbox-discounts'
import type { TestApp } from './app.ts'
import { connectedStore } from './platform.ts'

export const minute = 60_000

export async function discountStore(app: TestApp, options: Parameters<typeof connectedStore>[1] = {}) {
  const shop = await connectedStore(app, options)
  return {
    ...shop,
    /** The platform's discounts. */
    held: () => listSandboxDiscounts(shop.platform),
    heldTitles: async () => (await listSandboxDiscounts(shop.platform)).map(({ spec }) => spec.title).sort(),
    /** Starts or ends an outage of the platform. */
    async setDown(isDown: boolean) {
      const mode = { store_id: shop.id, port: 'ecommerce', mode: isDown ? 'down' : 'up' }
      await app.database.root
        .insertInto('sandbox_modes')
        .values(mode)
        .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode: mode.mode }))
        .execute()
    },
    /** A valid body for each kind. */
    promotion: (change: object = {}) => ({ name: 'Leve 3', buyQuantity: 3, payQuantity: 2, ...change }),
    bundle: (change: object = {}) => ({
      name: 'Combo',
      items: [{ productId: '1001', variantId: '2002', quantity: 2 }, { productId: '1002' }],
      discountType: 'percentage',
      discountValue: 10,
      ...change,
    }),
    gift: (change: object = {}) => ({
      name: 'Brinde',
      minAmount: 150,
      gift: { productId: '1002' },
      ...change,
    }),
  }
}
export type DiscountShop = Awaited<ReturnType<typeof discountStore>>

type Method = 'putDiscount' | 'removeDiscount'

/**
 * The platform executes the next call of a method, but its answer waits for `letGo`: this shows the state that a
 * process leaves if it dies at that point.
 */
export function holdAnswer(app: TestApp, method: Method): { reached: Promise<void>; letGo(): void } {
  const port = app.services.adapters.ecommerce.sandbox as unknown as Record<
    Method,
    (...parameters: never[]) => Promise<unknown>
  >
  const real = port[method]
  let tell: () => void = () => undefined
  let letGo: () => void = () => undefined
  const reached = new Promise<void>((resolve) => {
    tell = resolve
  })
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  port[method] = async (...parameters) => {
    port[method] = real
    const answer = await real.apply(port, parameters)
    tell()
    await released
    return answer
  }
  return { reached, letGo: () => letGo() }
}

/** Replaces a method of the platform by `answer`; returns a function that restores it. */
export function replaceMethod<M extends keyof EcommercePort>(
  app: TestApp,
  method: M,
  replacement: EcommercePort[M],
): () => void {
  const port = app.services.adapters.ecommerce.sandbox as EcommercePort
  const real = port[method]
  port[method] = replacement
  return () => {
    port[method] = real
  }
}
