/** Aurora's bars and alerts, and two days of what shoppers' browsers told. */
import type { RootDatabase } from '#db/database'
import { defaultActions } from '#operations/bars/actions/schema'
import { defaultAlert } from '#operations/bars/alerts/schema'
import type { AlertType } from '#operations/bars/alerts/types'
import { defaultCountdown } from '#operations/bars/countdown/schema'
import { defaultFreeShipping } from '#operations/bars/free-shipping/schema'
import { localDay } from '#runtime/database/days'
import { namedId } from '#runtime/values/ids'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import { hourMs, minuteMs, type Timeline } from './timeline.ts'

/** Once the mirror of the catalog is there. */
export async function seedAuroraBars(db: RootDatabase, store: DemoStore): Promise<void> {
  const { timeline } = store
  await insertRows(db, 'bar_settings', store.id, barRows(timeline))
  await insertRows(db, 'fomo_alerts', store.id, alertRows(timeline))
  const events = eventRows(timeline)
  await insertRows(db, 'storefront_events', store.id, events)
  await insertRows(db, 'widget_daily', store.id, dailyRows(events, timeline.zone))
}

function barRows(timeline: Timeline): SeedRow<'bar_settings'>[] {
  const row = (bar: string, daysAgo: number, content: object): SeedRow<'bar_settings'> => ({
    bar,
    content,
    created_at: timeline.ago(daysAgo + 30),
    updated_at: timeline.ago(daysAgo),
  })
  const endLocal = `${localDay(timeline.localTime(-3, 12), timeline.zone)}T23:59`
  return [
    row('free-shipping', 12, {
      ...defaultFreeShipping,
      isEnabled: true,
      threshold: 199,
      initialText: 'Frete grátis acima de {{threshold}}',
      progressText: 'Faltam {{remaining}} para o frete grátis',
      successText: 'Você ganhou frete grátis!',
    }),
    row('countdown', 0, {
      ...defaultCountdown,
      isEnabled: true,
      countdown: {
        ...defaultCountdown.countdown,
        isEnabled: true,
        endLocal,
        text: 'Termina em {{countdown}}',
      },
      announcements: [
        { text: 'Semana da casa: até 20 % em Cozinha', linkUrl: '/categories/cozinha', isEnabled: true },
        { text: 'Troca grátis em 30 dias', linkUrl: null, isEnabled: true },
      ],
    }),
    row('action', 20, {
      ...defaultActions,
      isEnabled: true,
      text: 'Precisa de ajuda?',
      actions: [
        {
          type: 'messaging',
          label: 'Fale conosco',
          icon: 'chat',
          target: '+551140001000',
          backgroundColor: '#22c55e',
          textColor: '#ffffff',
        },
        {
          type: 'coupon',
          label: 'Cupom AURORA10',
          icon: 'tag',
          target: 'AURORA10',
          backgroundColor: '#111827',
          textColor: '#ffffff',
        },
      ],
    }),
  ]
}

function alertRows(timeline: Timeline): SeedRow<'fomo_alerts'>[] {
  const row = (type: AlertType, daysAgo: number, change: object): SeedRow<'fomo_alerts'> => ({
    id: namedId(`aurora alert ${type}`, timeline.ago(daysAgo).getTime()),
    alert_type: type,
    content: { ...defaultAlert(type), ...change },
    created_at: timeline.ago(daysAgo),
    updated_at: timeline.ago(daysAgo / 2),
  })
  return [
    row('recent-purchases', 40, {
      isEnabled: true,
      text: '{{firstName}}, de {{city|longe}}, comprou {{productName}}',
    }),
    row('live-visitors', 38, { isEnabled: true, text: '{{count}} pessoas estão vendo isto agora' }),
    row('recent-reviews', 15, { text: '{{firstName}} deu {{rating}} estrelas a {{productName}}' }),
  ]
}

const eventsInAll = 4000
const visitorsInAll = 1100
/** Looked at right now, so that there is somebody to count. */
const livePeople = 12
/** Of each hundred events: products looked at, put into the cart, alerts seen; the rest are alerts clicked. */
const viewed = 66
const carted = 76
const seen = 97

function eventRows(timeline: Timeline): SeedRow<'storefront_events'>[] {
  const random = new Random('aurora storefront events')
  const shown = new Set<string>()
  const rows: SeedRow<'storefront_events'>[] = []
  while (rows.length < eventsInAll) {
    const number = rows.length
    const isLive = number < livePeople
    const at = new Date(
      timeline.now.getTime() - (isLive ? random.between(0, 4) * minuteMs : wakefulMs(random, timeline)),
    )
    const visitor = isLive ? number : random.whole(0, visitorsInAll - 1)
    const row = oneEvent(random, isLive ? 0 : random.whole(0, 99), visitor)
    if (row.type === 'impression') {
      row.slot = Math.floor(at.getTime() / (30 * minuteMs))
      const once = `${row.visitor_id} ${row.resource_id} ${row.slot}`
      if (shown.has(once)) continue
      shown.add(once)
    }
    rows.push({ ...row, id: namedId(`aurora storefront event ${number}`, at.getTime()), happened_at: at })
  }
  return rows
}

/** How long ago, within 48 hours; fewer at night. */
function wakefulMs(random: Random, timeline: Timeline): number {
  for (;;) {
    const ago = random.between(4 * minuteMs, 48 * hourMs)
    const hour = timeline.localHour(new Date(timeline.now.getTime() - ago))
    if (hour >= 8 || random.chance(0.15)) return ago
  }
}

type Bare = Omit<SeedRow<'storefront_events'>, 'id' | 'happened_at'>

function oneEvent(random: Random, kind: number, visitor: number): Bare {
  const bare = {
    resource_id: '',
    product_id: null,
    variant_id: null,
    slot: null,
    visitor_id: `demo-visitor-${String(visitor).padStart(6, '0')}`,
    device: visitor % 10 < 7 ? 'mobile' : 'desktop',
  }
  // A few products are looked at far more than the others.
  const product_id = String(1001 + Math.floor(36 * random.next() ** 2.2))
  if (kind < viewed) return { ...bare, type: 'product-view', widget: 'page', product_id }
  if (kind < carted) return { ...bare, type: 'cart-add', widget: 'page', product_id }
  const resource_id = random.chance(0.7) ? 'recent-purchases' : 'live-visitors'
  return { ...bare, type: kind < seen ? 'impression' : 'click', widget: 'fomo-alert', resource_id }
}

/** What the events add up to, as they are counted when they come. */
function dailyRows(events: readonly SeedRow<'storefront_events'>[], zone: string): SeedRow<'widget_daily'>[] {
  const days = new Map<string, Required<Omit<SeedRow<'widget_daily'>, 'store_id'>>>()
  const visitors = new Set<string>()
  for (const { type, widget, resource_id, visitor_id, happened_at } of events) {
    if (type === 'product-view') continue
    const day = localDay(happened_at, zone)
    const key = `${widget} ${resource_id} ${day}`
    const row = days.get(key) ?? {
      ...{ widget, resource_id, day, impressions: 0, clicks: 0, closes: 0, cart_adds: 0, visitors: 0 },
    }
    days.set(key, row)
    if (type === 'click') row.clicks += 1
    else if (type === 'cart-add') row.cart_adds += 1
    else {
      row.impressions += 1
      if (!visitors.has(`${key} ${visitor_id}`)) row.visitors += 1
      visitors.add(`${key} ${visitor_id}`)
    }
  }
  return [...days.values()]
}
