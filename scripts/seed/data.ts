/** Plain rows of the demo, from `data/<slug>.json`, by table. */
import type { RootDatabase } from '#db/database'
import type { TenantTables } from '#db/tables'
import { buildDefaultDefinition } from '#operations/automations/definitions/definition'
import { kinds } from '#operations/automations/kinds'
import type { AutomationType } from '#operations/automations/types'
import { defaultActions } from '#operations/bars/actions/schema'
import { defaultAlert } from '#operations/bars/alerts/schema'
import { alertTypes } from '#operations/bars/alerts/types'
import { defaultCountdown } from '#operations/bars/countdown/schema'
import { defaultFreeShipping } from '#operations/bars/free-shipping/schema'
import { defaultForm } from '#operations/capture/contact-form/form-rules'
import { defaultPopup } from '#operations/capture/popup/defaults'
import { defaultSettings } from '#operations/exchanges/settings/defaults'
import { defaultTierSettings } from '#operations/inbox/tiers/tiers'
import { type BlockType, blockDesigns } from '#operations/product-page/content-blocks/designs'
import { defaultBadgeSettings } from '#operations/product-page/labels/badge-settings'
import { badgeDefaults, stickerDefaults } from '#operations/product-page/labels/schema'
import { defaultLookSettings } from '#operations/product-page/looks/settings'
import { defaultHomeSlider, defaultSlider } from '#operations/product-page/video-slider/schema'
import { defaultWishlistSettings } from '#operations/product-page/wishlist/settings'
import { bundleDefaults } from '#operations/promotions/bundles/schema'
import { giftDefaults } from '#operations/promotions/gifts/schema'
import { promotionDefaults } from '#operations/promotions/promotions/schema'
import { defaultReviewSettings } from '#operations/reviews/settings/schema'
import { defaultTestimonialSettings } from '#operations/reviews/testimonials/schema'
import { defaultCounter } from '#operations/stock/counter/schema'
import { defaultAlerts } from '#operations/stock/settings/schema'
import { everyProduct, unconditional } from '#operations/storefront/index'
import { idFromName } from '#runtime/values/ids'
import auroraRows from './data/aurora-supply.json' with { type: 'json' }
import borealisRows from './data/borealis-goods.json' with { type: 'json' }
import type { DemoStore } from './demo-store.ts'
import { insertRows } from './rows.ts'

type Fields = Record<string, unknown>

/** Base objects for data with `$like`: the defaults of a section. */
const bases: Record<string, Fields> = {
  ...Object.fromEntries(alertTypes.map((type) => [`alert ${type}`, { ...defaultAlert(type) }])),
  actions: { ...defaultActions },
  badge: { ...badgeDefaults, ...everyProduct, ...unconditional },
  badges: { ...defaultBadgeSettings },
  bundle: { ...bundleDefaults },
  countdown: { ...defaultCountdown },
  counter: { ...defaultCounter },
  everyProduct: { ...everyProduct },
  exchanges: { ...defaultSettings },
  form: { ...defaultForm },
  freeShipping: { ...defaultFreeShipping },
  gift: { ...giftDefaults },
  homeSlider: { ...defaultHomeSlider },
  looks: { ...defaultLookSettings },
  popup: { ...defaultPopup },
  promotion: { ...promotionDefaults, ...everyProduct },
  reviews: { ...defaultReviewSettings },
  slider: { ...defaultSlider },
  sticker: { ...stickerDefaults, ...everyProduct, ...unconditional },
  stockAlerts: { ...defaultAlerts },
  testimonials: { ...defaultTestimonialSettings },
  tiers: { ...defaultTierSettings },
  wishlist: { ...defaultWishlistSettings },
}

export async function seedData(db: RootDatabase, store: DemoStore): Promise<void> {
  const tables: object = store.slug === 'aurora-supply' ? auroraRows : borealisRows
  for (const [table, rows] of Object.entries(tables)) {
    await insertRows(db, table as keyof TenantTables, store.id, resolvePlaceholders(store, rows) as never[])
  }
}

/**
 * Resolves placeholders: `@3.5` an instant, days ago; `#look 1 @52` an id, created that many days ago; `today+3` a
 * local day; `local:-3 10` ten o'clock on the day in three days; `pictures:sun-4.svg` a picture of the platform;
 * `media:logo`, `template:welcome_back`, `list:VIP` and `person:olivia` an entry of the store's names.
 */
export function resolvePlaceholders(store: DemoStore, value: unknown): unknown {
  if (typeof value === 'string') return resolveText(store, value)
  if (Array.isArray(value)) return value.map((each) => resolvePlaceholders(store, each))
  if (value === null || typeof value !== 'object') return value
  const { $like: like, ...own } = value as Fields
  const fields = Object.fromEntries(
    Object.entries(own).map(([name, each]) => [name, resolvePlaceholders(store, each)]),
  )
  if (typeof like !== 'string') return fields
  const [field, automation] = like.split(' ')
  if (automation && automation in kinds && field !== 'alert') {
    const defaults = buildDefaultDefinition(automation as AutomationType, store.locale)
    return merge({ ...(defaults[field as 'message'] as object) }, fields)
  }
  const type = / design$/.test(like) && (like.slice(0, -7) as BlockType)
  return type ? blockDesigns[type].parse(fields) : merge(bases[like]!, fields)
}

function resolveText(store: DemoStore, text: string): unknown {
  const { timeline, names, slug } = store
  const instant = /^@(-?[\d.]+)$/.exec(text)
  if (instant) return timeline.ago(Number(instant[1]))
  const id = /^#(.+) @([\d.]+)$/.exec(text)
  if (id) return idFromName(`${slug} ${id[1]}`, timeline.ago(Number(id[2])).getTime())
  const day = /^today\+(\d+)(.*)$/.exec(text)
  if (day) return `${timeline.localDay(timeline.localTime(-Number(day[1]), 12))}${day[2]}`
  if (text.startsWith('pictures:')) return `${store.pictures}/${text.slice(9)}`
  const local = /^local:(-?\d+) ([\d.]+)$/.exec(text)
  if (local) return timeline.localTime(Number(local[1]), Number(local[2]))
  if (!/^(media|template|list|person):/.test(text)) return text
  if (!names.has(text)) throw new Error(`${slug} has no ${text}`)
  return names.get(text)
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

function merge(base: Fields, own: Fields): Fields {
  const result = { ...base }
  for (const [name, value] of Object.entries(own)) {
    const before = result[name]
    result[name] = isFields(before) && isFields(value) ? merge(before, value) : value
  }
  return result
}
