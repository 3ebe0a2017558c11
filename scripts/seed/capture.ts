/** Subscribers of the popup: their rows, their touches, and the emails that brought them their codes. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { couponCode } from './order-plan.ts'
import { american, brazilian, type Person } from './people.ts'
import { demoPrizes } from './popup-prizes.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs, minuteMs } from './timeline.ts'

export type Subscriber = SeedRow<'newsletter_subscribers'>

const consentText = 'Quero receber novidades e ofertas por e-mail e mensagem.'
const [ten, shipping, , fifteen, twenty] = demoPrizes
const prizes = [ten!, ten!, shipping!, fifteen!, twenty!]

/** 180 over 90 days, more at weekends: 20 who ordered, 40 with a code, 6 who left. Oldest first. */
export async function seedAuroraSubscribers(
  db: RootDatabase,
  store: DemoStore,
  shop: DemoShop,
): Promise<Subscriber[]> {
  const random = new Random('aurora subscribers')
  const { timeline } = store
  const buyers = buyersOf(store, shop, random)
  const visitors = Array.from({ length: 160 }, (_, index) => {
    const person = brazilian(random, 6101 + index)
    const hasPhone = random.chance(0.75)
    const at = visitedAt(store, random)
    const code = index % 8 === 0 ? couponCode(random) : null
    const subscriber = subscriberOf(
      store,
      { ...person, phone: hasPhone ? person.phone : null },
      at,
      code,
      random,
    )
    if (index % 25 !== 1 || index > 130) return subscriber
    const leftAt = timeline.notAfterNow(new Date(at.getTime() + random.between(2, 20) * dayMs))
    return { ...subscriber, status: 'unsubscribed', unsubscribed_at: leftAt, updated_at: leftAt }
  })
  return save(db, store, [...buyers, ...visitors])
}

/** Four, three of whom ordered. */
export async function seedBorealisSubscribers(
  db: RootDatabase,
  store: DemoStore,
  shop: DemoShop,
): Promise<Subscriber[]> {
  const random = new Random('borealis subscribers')
  const visitor = subscriberOf(store, american(random, 6101), store.timeline.ago(16.4), null, random)
  return save(db, store, [...buyersOf(store, shop, random), visitor])
}

/** Who ordered within the days that an order is attributed to a subscription. */
function buyersOf(store: DemoStore, shop: DemoShop, random: Random): Subscriber[] {
  return shop.attributed('newsletter').map(({ plan }) => {
    const before = random.between(10 * minuteMs, 4.5 * dayMs)
    return subscriberOf(store, plan.customer, new Date(plan.placedAt.getTime() - before), plan.coupon, random)
  })
}

/** Twice as many at a weekend's day. */
function visitedAt(store: DemoStore, random: Random): Date {
  for (;;) {
    const at = store.timeline.ago(random.between(0.05, 89.5))
    if (store.timeline.localHour(at) < 7) continue
    if (store.timeline.isWeekend(at) || random.chance(0.5)) return at
  }
}

function subscriberOf(
  store: DemoStore,
  person: Pick<Person, 'name' | 'email'> & { phone: string | null },
  at: Date,
  code: string | null,
  random: Random,
): Subscriber {
  const prize = code === null ? null : random.pick(prizes)
  return {
    id: namedId(`subscriber ${store.slug} ${person.email}`, at.getTime()),
    email: person.email,
    phone: person.phone,
    phone_key: person.phone && phoneKey(person.phone),
    name: person.name,
    status: 'subscribed',
    source: 'popup',
    consent_email: true,
    consent_phone: person.phone !== null,
    consent_text: consentText,
    consent_at: at,
    prize_id: prize?.id ?? null,
    prize_label: prize?.label ?? null,
    coupon_code: code,
    coupon_status: code && 'issued',
    coupon: prize && { ...prize.coupon, expiresAt: new Date(at.getTime() + 30 * dayMs).toISOString() },
    coupon_email: code && 'sent',
    page_url: `https://${store.domain}/${random.pick(['', 'products/manta-de-algodao', 'collections/casa'])}`,
    device: random.pick(['mobile', 'mobile', 'desktop']),
    unsubscribed_at: null,
    created_at: at,
    updated_at: at,
  }
}

async function save(db: RootDatabase, store: DemoStore, subscribers: Subscriber[]): Promise<Subscriber[]> {
  const oldestFirst = subscribers.sort((one, other) => one.created_at.getTime() - other.created_at.getTime())
  await insertRows(db, 'newsletter_subscribers', store.id, oldestFirst)
  await insertRows(db, 'attribution_touches', store.id, oldestFirst.map(touchOf))
  await insertRows(
    db,
    'message_ledger',
    store.id,
    oldestFirst.filter((each) => each.coupon_code !== null).map(couponEmail),
  )
  return oldestFirst
}

const touchOf = (subscriber: Subscriber): SeedRow<'attribution_touches'> => ({
  id: namedId(`touch ${subscriber.id}`, subscriber.created_at.getTime()),
  source_type: 'newsletter',
  source_id: subscriber.id,
  source_name: 'Popup',
  automation_type: null,
  channel: 'storefront',
  message_id: null,
  phone_key: subscriber.phone_key,
  email: subscriber.email!.toLowerCase(),
  coupon_code: subscriber.coupon_code,
  click_token: null,
  product_id: null,
  touched_at: subscriber.created_at,
  voided_at: null,
})

/** The email with the code, a moment after. */
function couponEmail(subscriber: Subscriber): SeedRow<'message_ledger'> {
  const at = new Date(subscriber.created_at.getTime() + 2000)
  return {
    message_id: namedId(`coupon email ${subscriber.id}`, at.getTime()),
    channel: 'email',
    source: 'newsletter',
    source_id: subscriber.id,
    phone_key: null,
    email: subscriber.email!.toLowerCase(),
    provider_message_id: null,
    status: 'sent',
    failure_code: null,
    sent_at: at,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  }
}
