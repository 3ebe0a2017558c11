/** The demo's looks and size guides. */
import type { LookContent, LookItem } from '#operations/product-page/looks/schema'
import { defaultLookSettings, type LookSettings } from '#operations/product-page/looks/settings'
import type { SizeGuideContent, SizeTable } from '#operations/product-page/size-guides/schema'
import { everyProduct } from '#operations/storefront/products/targeting'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { uploaded } from './media.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'

interface PlannedLook {
  name: string
  description: string | null
  madeAgo: number
  health: 'healthy' | 'degraded' | 'broken'
  items: [productId: string, x: number, y: number, quantity?: number][]
  seen: { impressions: number; clicks: number; cart_adds: number }
}

const auroraLooks: PlannedLook[] = [
  {
    name: 'Sala de inverno',
    description: 'Manta, almofada e luz baixa.',
    madeAgo: 52,
    health: 'healthy',
    items: [
      ['1012', 34, 62],
      ['1013', 58, 55, 2],
      ['1014', 80, 22],
    ],
    seen: { impressions: 6420, clicks: 512, cart_adds: 74 },
  },
  {
    name: 'Café na varanda',
    description: null,
    madeAgo: 41,
    health: 'healthy',
    items: [
      ['1001', 22, 70, 2],
      ['1007', 48, 64],
      ['1008', 71, 58],
    ],
    seen: { impressions: 5180, clicks: 366, cart_adds: 51 },
  },
  {
    name: 'Parede Norte',
    description: 'O relógio e o espelho, com um vaso embaixo.',
    madeAgo: 30,
    health: 'degraded',
    items: [
      ['1039', 30, 18],
      ['1017', 66, 24],
      ['1015', 50, 82],
    ],
    seen: { impressions: 2240, clicks: 131, cart_adds: 12 },
  },
  {
    name: 'Prévia da estação',
    description: null,
    madeAgo: 24,
    health: 'broken',
    items: [
      ['sandbox-missing', 40, 30],
      ['1040', 52, 66],
    ],
    seen: { impressions: 610, clicks: 22, cart_adds: 1 },
  },
]

const sizes = (title: string | null, columns: string[], ...rows: string[][]): SizeTable => ({
  title,
  columns,
  rows,
})

interface PlannedGuide {
  name: string
  madeAgo: number
  content: Partial<SizeGuideContent> & { tables: SizeTable[] }
}

const auroraGuides: PlannedGuide[] = [
  {
    name: 'Medidas gerais',
    madeAgo: 70,
    content: {
      unit: 'none',
      display: 'drawer',
      tables: [sizes(null, ['Tamanho', 'Equivale a'], ['P', '36-38'], ['M', '40-42'], ['G', '44-46'])],
    },
  },
  {
    name: 'Vestuário',
    madeAgo: 45,
    content: {
      scope: 'categories',
      categoryIds: ['305'],
      showUnitSwitch: true,
      instructionsHtml: '<p>Meça sobre a roupa de baixo, com a fita <strong>sem apertar</strong>.</p>',
      tables: [
        sizes('Corpo', ['Tamanho', 'Busto', 'Cintura'], ['P', '84-88', '64-68'], ['M', '88-92', '68-72']),
        sizes('Mangas', ['Tamanho', 'Comprimento'], ['P', '60'], ['M', '62,5']),
      ],
    },
  },
  {
    name: 'Camisetas e camisas',
    madeAgo: 20,
    content: {
      scope: 'products',
      productIds: ['1027', '1028'],
      showUnitSwitch: true,
      linkText: 'Guia de medidas',
      tables: [
        sizes(
          null,
          ['Tamanho', 'Largura', 'Altura'],
          ['P', '50', '68'],
          ['M', '53', '71'],
          ['G', '56', '74'],
        ),
      ],
    },
  },
]

/** Four looks, two of them in each of the home page's two sections, and three size guides. */
export async function seedAuroraLooks(ctx: Context, store: DemoStore): Promise<void> {
  const ids = await seedLooks(ctx, store, auroraLooks)
  await seedGuides(ctx, store, auroraGuides)
  await seedLookSettings(ctx, store, {
    ...defaultLookSettings,
    isEnabled: true,
    title: 'Complete o ambiente',
    buttonText: 'Levar tudo',
    homeSections: [
      {
        key: 'casa',
        title: 'Para a casa',
        subtitle: 'Peças que combinam',
        lookIds: ids.slice(0, 2),
        layout: 'carousel',
        isEnabled: true,
      },
      {
        key: 'novidades',
        title: 'Novidades',
        subtitle: null,
        lookIds: ids.slice(2),
        layout: 'grid',
        isEnabled: true,
      },
    ],
  })
}

export async function seedBorealisLooks(ctx: Context, store: DemoStore): Promise<void> {
  await seedLooks(ctx, store, [
    {
      name: 'Cabin evening',
      description: null,
      madeAgo: 18,
      health: 'healthy',
      items: [
        ['1001', 25, 60],
        ['1003', 60, 48],
      ],
      seen: { impressions: 140, clicks: 11, cart_adds: 2 },
    },
  ])
  const tables = [sizes(null, ['Blanket', 'Width', 'Length'], ['Throw', '50', '60'], ['Queen', '90', '90'])]
  await seedGuides(ctx, store, [
    { name: 'Blanket sizes', madeAgo: 30, content: { unit: 'in', showUnitSwitch: true, tables } },
  ])
}

/** Their ids, in the order given. */
async function seedLooks(ctx: Context, store: DemoStore, plans: readonly PlannedLook[]): Promise<string[]> {
  const rows = plans.map((plan, at): SeedRow<'looks'> => {
    const made = store.timeline.ago(plan.madeAgo)
    const content: LookContent = {
      description: plan.description,
      imageUrl: uploaded(store, `look-${at + 1}`),
      imageAlt: plan.name,
      items: plan.items.map(
        ([productId, x, y, quantity = 1]): LookItem => ({
          productId,
          variantId: null,
          quantity,
          hotspot: { x, y },
        }),
      ),
      showOnProductPages: true,
    }
    return {
      id: namedId(`${store.slug} look ${plan.name}`, made.getTime()),
      name: plan.name,
      content,
      is_active: true,
      health: plan.health,
      checked_at: store.timeline.ago(0.15),
      ...plan.seen,
      created_at: made,
      updated_at: made,
    }
  })
  await insertRows(ctx.system, 'looks', store.id, rows)
  return rows.map((row) => row.id)
}

async function seedGuides(ctx: Context, store: DemoStore, plans: readonly PlannedGuide[]): Promise<void> {
  const rows = plans.map(({ name, madeAgo, content }): SeedRow<'size_guides'> => {
    const made = store.timeline.ago(madeAgo)
    const whole: SizeGuideContent = {
      ...everyProduct,
      unit: 'cm',
      showUnitSwitch: false,
      instructionsHtml: null,
      imageUrl: null,
      display: 'modal',
      linkText: 'Size guide',
      ...content,
    }
    const id = namedId(`${store.slug} size guide ${name}`, made.getTime())
    return { id, name, content: whole, is_active: true, created_at: made, updated_at: made }
  })
  await insertRows(ctx.system, 'size_guides', store.id, rows)
}

async function seedLookSettings(ctx: Context, store: DemoStore, content: LookSettings): Promise<void> {
  await insertRows(ctx.system, 'widget_settings', store.id, [
    { key: 'looks', content, updated_at: store.timeline.ago(22) },
  ])
}
