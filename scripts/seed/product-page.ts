/** What stands around Aurora's products, and sixty days of what shoppers saw of it; one block of Borealis. */
import type { RootDatabase } from '#db/database'
import type { BlockType } from '#operations/product-page/content-blocks/designs'
import { defaultBadgeSettings } from '#operations/product-page/labels/badge-settings'
import { badgeDefaults, stickerDefaults } from '#operations/product-page/labels/schema'
import { defaultHomeSlider, defaultSlider, type Video } from '#operations/product-page/video-slider/schema'
import { everyProduct, unconditional } from '#operations/storefront/door'
import { localDay } from '#runtime/database/days'
import { namedId } from '#runtime/values/ids'
import { uploaded } from './media.ts'
import { blocksOf, borealisBlock, type DemoBlock, designOf } from './product-page-blocks.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import type { Timeline } from './timeline.ts'

const countedDays = 60

/** Once the mirror of the catalog is there. */
export async function seedAuroraProductPage(db: RootDatabase, store: DemoStore): Promise<void> {
  const { timeline } = store
  const blocks = blocksOf((name) => uploaded(store, name)).map((block, at) =>
    blockRow('aurora', timeline, block, at),
  )
  const videoOf = videoIn(store)
  const sliders = sliderRows(store, videoOf)
  const days = [...dailyRows(timeline, blocks), ...sliderDays(timeline, sliders)]
  await insertRows(db, 'content_blocks', store.id, withSums(blocks, days))
  await insertRows(db, 'product_labels', store.id, [...stickerRows(store), ...badgeRows(timeline)])
  await insertRows(db, 'widget_settings', store.id, [
    {
      key: 'badges',
      content: {
        ...defaultBadgeSettings,
        featuredPrice: {
          ...defaultBadgeSettings.featuredPrice,
          isEnabled: true,
          discountPercentage: 10,
          text: '{{price}} no {{method}}',
          method: 'Pix',
        },
      },
      updated_at: timeline.ago(30),
    },
  ])
  await insertRows(db, 'video_sliders', store.id, withSums(sliders, days))
  await insertRows(db, 'home_video_sliders', store.id, [homeRow(store, videoOf, days)])
  await insertRows(db, 'widget_daily', store.id, days)
}

export async function seedBorealisProductPage(db: RootDatabase, store: DemoStore): Promise<void> {
  await insertRows(db, 'content_blocks', store.id, [blockRow('borealis', store.timeline, borealisBlock, 0)])
}

type BlockRow = Omit<SeedRow<'content_blocks'>, 'impressions' | 'clicks'> & { id: string }

function blockRow(shop: string, timeline: Timeline, block: DemoBlock, at: number): BlockRow {
  const { name, type, isActive, targeting, placement } = block
  const createdAt = timeline.ago(75 - at)
  return {
    id: namedId(`${shop} content block ${name}`, createdAt.getTime()),
    name,
    type,
    design: designOf(type as BlockType, block.design),
    content: { ...everyProduct, ...targeting, placement: placement ?? 'below-description', device: 'all' },
    starts_at: null,
    ends_at: null,
    is_active: isActive,
    priority: at + 1,
    created_at: createdAt,
    updated_at: timeline.ago(60 - at),
  }
}

type Day = Required<Omit<SeedRow<'widget_daily'>, 'store_id'>>

const dayRow = (widget: string, resource_id: string, day: string, seen: number, rate: number): Day => ({
  ...{ widget, resource_id, day, impressions: seen, clicks: Math.round(seen * rate) },
  ...{ closes: 0, cart_adds: 0, visitors: Math.ceil(seen * 0.8) },
})

/** More at weekends; each block is clicked at a rate of its own. */
function dailyRows(timeline: Timeline, blocks: readonly BlockRow[]): Day[] {
  const random = new Random('aurora content blocks')
  return blocks.flatMap(({ id }, at) => {
    const rate = 0.025 + 0.0075 * at
    return Array.from({ length: countedDays }, (_none, daysBack) => {
      const noon = timeline.localTime(daysBack, 12)
      const seen = Math.round(random.between(60, 110) * (timeline.isWeekend(noon) ? 1.6 : 1))
      return dayRow(
        'content-block',
        id,
        localDay(noon, timeline.zone),
        seen,
        random.between(rate, rate + 0.005),
      )
    })
  })
}

function sliderDays(timeline: Timeline, sliders: readonly { id: string }[]): Day[] {
  const random = new Random('aurora video sliders')
  return [...sliders.map(({ id }) => id), 'home'].flatMap((id) =>
    Array.from({ length: countedDays }, (_none, daysBack) => {
      const day = localDay(timeline.localTime(daysBack, 12), timeline.zone)
      return dayRow('video-slider', id, day, random.whole(20, 70), random.between(0.08, 0.2))
    }),
  )
}

/** All-time counters are what the days add up to. */
function withSums<R extends { id: string }>(
  rows: readonly R[],
  days: readonly Day[],
): (R & { impressions: number; clicks: number })[] {
  return rows.map((row) => ({ ...row, ...sumsOf(row.id, days) }))
}

function sumsOf(id: string, days: readonly Day[]): { impressions: number; clicks: number } {
  const own = days.filter((day) => day.resource_id === id)
  return {
    impressions: own.reduce((sum, day) => sum + day.impressions, 0),
    clicks: own.reduce((sum, day) => sum + day.clicks, 0),
  }
}

interface DemoLabel {
  name: string
  own: object
  rules?: object
  priority?: number
  startsInDays?: number
}

function labelRow(
  kind: 'sticker' | 'badge',
  timeline: Timeline,
  { name, own, rules, priority = 100, startsInDays }: DemoLabel,
  at: number,
): SeedRow<'product_labels'> {
  const createdAt = timeline.ago(50 - at)
  return {
    id: namedId(`aurora ${kind} ${name}`, createdAt.getTime()),
    kind,
    name,
    content: { ...own, ...everyProduct, ...unconditional, ...rules },
    starts_at: startsInDays === undefined ? null : timeline.ago(-startsInDays),
    ends_at: null,
    is_active: true,
    priority,
    created_at: createdAt,
    updated_at: timeline.ago(40 - at),
  }
}

const stickerRows = ({ timeline, ...store }: DemoStore): SeedRow<'product_labels'>[] =>
  [
    {
      name: 'Lançamentos',
      own: { ...stickerDefaults, kind: 'preset', preset: 'new', backgroundColor: '#111827' },
      rules: { condition: 'new', conditionValue: 30 },
    },
    {
      name: 'Liquidação',
      own: { ...stickerDefaults, kind: 'text', text: 'Oferta', position: 'top-right' },
      rules: { condition: 'on-sale' },
      priority: 10,
    },
    {
      name: 'Selo artesanal',
      own: { ...stickerDefaults, kind: 'image', imageUrl: uploaded(store, 'seal') },
      rules: { scope: 'categories', categoryIds: ['301'] },
    },
    {
      name: 'Edição de Natal',
      own: { ...stickerDefaults, kind: 'preset', preset: 'limited', backgroundColor: '#166534' },
      rules: { scope: 'products', productIds: ['1003', '1004', '1005'] },
      startsInDays: 5,
    },
  ].map((label, at) => labelRow('sticker', timeline, label, at))

const badgeRows = (timeline: Timeline): SeedRow<'product_labels'>[] =>
  [
    {
      name: 'Desconto',
      own: { ...badgeDefaults, text: '{{discountPercentage}}% OFF', backgroundColor: '#fee2e2' },
      rules: { condition: 'on-sale' },
      priority: 10,
    },
    {
      name: 'Últimas unidades',
      own: { ...badgeDefaults, text: 'Só restam {{stock}}', placement: 'below-buy-button' },
      rules: { condition: 'low-stock', conditionValue: 5 },
      priority: 20,
    },
    {
      name: 'Pix',
      own: { ...badgeDefaults, text: '{{transferPrice}} no Pix', icon: 'card' },
      priority: 30,
    },
    {
      name: 'Envio em 24 h',
      own: { ...badgeDefaults, text: 'Envio em 24 h', icon: 'truck', placement: 'below-title' },
      rules: { excludedProductIds: ['1040'] },
    },
  ].map((label, at) => labelRow('badge', timeline, label, at))

const videoIn =
  (store: DemoStore) =>
  (name: string, title: string, linkedProductId: string | null = null): Video => ({
    videoUrl: uploaded(store, 'film'),
    posterUrl: uploaded(store, name),
    title,
    linkedProductId,
  })

type SliderRow = Omit<SeedRow<'video_sliders'>, 'impressions' | 'clicks'> & { id: string }

const sliderRows = ({ timeline }: DemoStore, videoOf: ReturnType<typeof videoIn>): SliderRow[] =>
  [
    { productId: '1001', title: 'Em uso', videos: [videoOf('em-uso', 'No café da manhã')] },
    {
      productId: '1003',
      title: null,
      videos: [videoOf('de-perto', 'De perto'), videoOf('combina', 'Combina com', '1004')],
    },
    { productId: '1007', title: 'Como cuidar', videos: [videoOf('cuidados', 'Lavagem e cuidados')] },
  ].map(({ productId, title, videos }, at) => {
    const createdAt = timeline.ago(65 - at)
    return {
      id: namedId(`aurora video slider ${productId}`, createdAt.getTime()),
      product_id: productId,
      content: { ...defaultSlider, title, videos, layout: at === 1 ? 'stories' : 'carousel' },
      is_active: true,
      created_at: createdAt,
      updated_at: timeline.ago(60 - at),
    }
  })

const homeRow = (
  { timeline }: DemoStore,
  videoOf: ReturnType<typeof videoIn>,
  days: readonly Day[],
): SeedRow<'home_video_sliders'> => ({
  content: {
    ...defaultHomeSlider,
    title: 'Aurora em casa',
    videos: [
      videoOf('colecao', 'A nova coleção', '1001'),
      videoOf('mesa-posta', 'Mesa posta', '1003'),
      videoOf('atelie', 'No ateliê'),
      videoOf('presentes', 'Ideias de presente', '1007'),
    ],
  },
  is_enabled: true,
  ...sumsOf('home', days),
  updated_at: timeline.ago(14),
})
