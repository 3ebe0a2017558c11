/** The demo's promotions, bundles, gifts and installments; what is live is on the sandbox's platform too. */

import { type BundleContent, bundleDefaults } from '#operations/promotions/bundles/schema'
import type { Draft, KindName } from '#operations/promotions/discounts/draft'
import { referenceOf } from '#operations/promotions/discounts/kinds'
import { isLive } from '#operations/promotions/discounts/rows'
import { type GiftContent, giftDefaults } from '#operations/promotions/gifts/schema'
import { kindOf } from '#operations/promotions/platform/all-kinds'
import { type PromotionContent, promotionDefaults } from '#operations/promotions/promotions/schema'
import { putDiscount, recordUsage } from '#operations/store/ecommerce/sandbox-discounts'
import { snapshots } from '#operations/storefront/door'
import { everyProduct } from '#operations/storefront/products/targeting'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import type { Timeline } from './timeline.ts'

interface Planned {
  kind: KindName
  name: string
  content: object
  /** Days before now; negative ones are to come. */
  madeAgo: number
  startsAgo?: number
  endsAgo?: number
  isPaused?: boolean
  used?: { orders: number; total: string }
  seen?: { impressions: number; clicks: number; cartAdds: number }
}

const promotion = (
  own: Partial<PromotionContent> & Pick<PromotionContent, 'buyQuantity' | 'payQuantity'>,
): object => ({ ...promotionDefaults, ...everyProduct, ...own })
const bundle = (
  own: Partial<BundleContent> & Pick<BundleContent, 'discountType' | 'discountValue'>,
  ...items: [productId: string, quantity: number][]
): object => ({
  ...bundleDefaults,
  items: items.map(([productId, quantity]) => ({ productId, variantId: null, quantity })),
  ...own,
})

const promotions: Planned[] = [
  {
    kind: 'promotion',
    name: 'Black Friday 2x1',
    madeAgo: 40,
    startsAgo: 24,
    endsAgo: 20,
    content: promotion({ buyQuantity: 2, payQuantity: 1 }),
    used: { orders: 41, total: '3180.40' },
  },
  {
    kind: 'promotion',
    name: '4x3 all',
    madeAgo: 30,
    isPaused: true,
    content: promotion({ buyQuantity: 4, payQuantity: 3 }),
  },
  {
    kind: 'promotion',
    name: '3x2 in category 301',
    madeAgo: 12,
    startsAgo: 12,
    content: promotion({ buyQuantity: 3, payQuantity: 2, scope: 'categories', categoryIds: ['301'] }),
    used: { orders: 17, total: '1264.30' },
  },
  {
    kind: 'promotion',
    name: 'Second unit at 50 %',
    madeAgo: 6,
    endsAgo: -9,
    content: promotion({
      buyQuantity: 2,
      payQuantity: 1,
      discountPercentage: 50,
      mixing: 'same-product',
      scope: 'products',
      productIds: ['1003', '1004', '1005', '1006', '1007', '1008'],
    }),
    used: { orders: 9, total: '742.60' },
  },
  {
    kind: 'promotion',
    name: '2x1 weekend',
    madeAgo: 2,
    startsAgo: -3,
    endsAgo: -5,
    content: promotion({ buyQuantity: 2, payQuantity: 1, maxSetsPerOrder: 2 }),
  },
]

const bundles: Planned[] = [
  {
    kind: 'bundle',
    name: 'Café da manhã',
    madeAgo: 45,
    content: bundle({ discountType: 'percentage', discountValue: 15 }, ['1001', 2], ['1007', 1]),
    used: { orders: 23, total: '1343.43' },
    seen: { impressions: 5210, clicks: 388, cartAdds: 61 },
  },
  {
    kind: 'bundle',
    name: 'Cozinha completa',
    madeAgo: 33,
    content: bundle(
      { discountType: 'fixed', discountValue: 50, title: 'Frigideira e tábua', showOn: 'first-item' },
      ['1005', 1],
      ['1006', 1],
    ),
    used: { orders: 8, total: '400.00' },
    seen: { impressions: 2140, clicks: 121, cartAdds: 19 },
  },
  {
    kind: 'bundle',
    name: 'Sala aconchegante',
    madeAgo: 28,
    isPaused: true,
    content: bundle(
      { discountType: 'price', discountValue: 329.9, maxPerOrder: 2 },
      ['1012', 1],
      ['1013', 1],
    ),
    used: { orders: 5, total: '249.50' },
    seen: { impressions: 1630, clicks: 84, cartAdds: 11 },
  },
  {
    kind: 'bundle',
    name: 'Parede Norte',
    madeAgo: 15,
    content: bundle({ discountType: 'percentage', discountValue: 10 }, ['1039', 1], ['1017', 1]),
    used: { orders: 2, total: '125.96' },
    seen: { impressions: 980, clicks: 47, cartAdds: 4 },
  },
]

const giftPlans: [
  Omit<Planned, 'kind' | 'content'>,
  Partial<GiftContent> & { minAmount: number; productId: string },
][] = [
  [
    { name: 'Brinde acima de 100', madeAgo: 60, used: { orders: 50, total: '4495.00' } },
    { minAmount: 100, productId: '1025', usageLimit: 50 },
  ],
  [
    { name: 'Brinde acima de 150', madeAgo: 25, used: { orders: 14, total: '1258.60' } },
    { minAmount: 150, productId: '1035', message: 'Faltam {{missingAmount}} para ganhar {{gift}}' },
  ],
  [
    { name: 'Brinde acima de 300', madeAgo: 25, used: { orders: 6, total: '719.40' } },
    { minAmount: 300, productId: '1013', addAutomatically: false, usageLimitPerCustomer: 1 },
  ],
]

/** Once the mirror of the catalog is there. */
export async function seedAuroraPromotions(ctx: Context, store: DemoStore): Promise<void> {
  await seedDiscounts(ctx, store, [...promotions, ...bundles, ...(await gifts(ctx))])
  await insertRows(ctx.system, 'installment_rules', store.id, rules(store.timeline))
}

/** One promotion, paused: nothing of Borealis is on its platform. */
export async function seedBorealisPromotions(ctx: Context, store: DemoStore): Promise<void> {
  const content = promotion({ buyQuantity: 3, payQuantity: 2 })
  await seedDiscounts(ctx, store, [
    { kind: 'promotion', name: '3 for 2', madeAgo: 10, isPaused: true, content },
  ])
}

async function gifts(ctx: Context): Promise<Planned[]> {
  const products = await snapshots.find(
    ctx,
    giftPlans.map(([, { productId }]) => productId),
  )
  return giftPlans.map(([plan, { productId, ...own }]) => {
    const variant = products.get(productId)?.variants[0]
    if (!variant) throw new Error(`The demo's gift ${productId} has no variant in the mirror of the catalog`)
    const gift = { productId, variantId: variant.variantId, quantity: 1 }
    return { ...plan, kind: 'gift', content: { ...giftDefaults, ...own, gift } }
  })
}

async function seedDiscounts(ctx: Context, store: DemoStore, plans: readonly Planned[]): Promise<void> {
  const rows = plans.map((plan) => rowOf(ctx, store, plan))
  await insertRows(
    ctx.system,
    'discounts',
    store.id,
    rows.map(({ row }) => row),
  )
  const shop = { db: ctx.system, clock: ctx.clock, storeId: store.id }
  for (const { row, draft, plan } of rows) {
    const kind = kindOf(plan.kind)
    if (row.sync_status === 'synced') await putDiscount(shop, kind.spec(row.id, row.revision!, draft))
    if (!plan.used) continue
    await recordUsage(shop, referenceOf(plan.kind, row.id), { ...plan.used, currency: ctx.store.currency })
  }
}

function rowOf(ctx: Context, store: DemoStore, plan: Planned) {
  const { timeline } = store
  const madeAt = timeline.ago(plan.madeAgo)
  const instant = (daysAgo: number | undefined) => (daysAgo === undefined ? null : timeline.ago(daysAgo))
  const startsAt = instant(plan.startsAgo)
  const endsAt = instant(plan.endsAgo)
  const draft: Draft = {
    name: plan.name,
    isActive: !plan.isPaused,
    startsAt: startsAt?.toISOString() ?? null,
    endsAt: endsAt?.toISOString() ?? null,
    content: plan.content,
  }
  const isThere = isLive({ ...draft, usageCount: plan.used?.orders ?? 0 }, timeline.now)
  const row = {
    id: namedId(`${store.slug} ${plan.kind} ${plan.name}`, madeAt.getTime()),
    kind: plan.kind,
    name: plan.name,
    is_active: draft.isActive,
    starts_at: startsAt,
    ends_at: endsAt,
    content: plan.content,
    revision: 1,
    sync_status: isThere ? 'synced' : 'none',
    synced_at: isThere ? madeAt : null,
    usage_count: plan.used?.orders ?? 0,
    discount_total: plan.used?.total ?? '0.00',
    currency: ctx.store.currency,
    impressions: plan.seen?.impressions ?? 0,
    clicks: plan.seen?.clicks ?? 0,
    cart_adds: plan.seen?.cartAdds ?? 0,
    is_unavailable: false,
    created_at: madeAt,
    updated_at: madeAt,
  }
  return { row, draft, plan }
}

function rules(timeline: Timeline): SeedRow<'installment_rules'>[] {
  const at = timeline.ago(90)
  const rule = (
    name: string,
    [min, max]: [string, string | null],
    [most, free]: [number, number],
    rate: string,
    least: string,
  ): SeedRow<'installment_rules'> => ({
    id: namedId(`installments ${name} of ${timeline.zone}`, at.getTime()),
    name,
    min_amount: min,
    max_amount: max,
    max_installments: most,
    interest_free_installments: free,
    monthly_interest_rate: rate,
    min_installment_amount: least,
    is_active: true,
    created_at: at,
    updated_at: at,
  })
  return [
    rule('Cartão, até 100', ['0', '100.00'], [3, 3], '0', '0'),
    rule('Cartão, de 100 a 1000', ['100.00', '1000.00'], [6, 3], '2.9900', '0'),
    rule('Cartão, acima de 1000', ['1000.00', null], [12, 6], '2.4900', '50.00'),
  ]
}
