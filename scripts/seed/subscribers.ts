/** Subscribers of the popup with the emails of their codes, and submissions of the contact form. */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { Prize } from '#operations/capture/popup/schema'
import { publication } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import rows from './data/aurora-supply.json' with { type: 'json' }
import type { DemoStore } from './demo-store.ts'
import { brazilian, type Person } from './people.ts'
import { generateCode, Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'

export type Subscriber = SeedRow<'newsletter_subscribers'>

const [popup] = rows.newsletter_settings
const demoPrizes = popup!.settings.roulette.prizes as Prize[]
const [ten, shipping, , fifteen, twenty] = demoPrizes
const prizes = [ten!, ten!, shipping!, fifteen!, twenty!]

/** 180 over 90 days, more on weekends: 20 who ordered, 40 with a code, 6 who unsubscribed. Oldest first. */
export async function seedAuroraSubscribers(
  db: RootDatabase,
  store: DemoStore,
  shop: DemoShop,
): Promise<Subscriber[]> {
  const random = new Random('aurora subscribers')
  const { timeline } = store
  const buyers = listBuyers(store, shop, random)
  const visitors = Array.from({ length: 160 }, (_, index) => {
    const person = brazilian(random, 6101 + index)
    const phone = random.chance(0.75) ? person.phone : null
    const at = chooseVisit(store, random)
    const code = index % 8 === 0 ? generateCode('POP', random) : null
    const subscriber = buildSubscriber(store, { ...person, phone }, at, code, random)
    if (index % 25 !== 1 || index > 130) return subscriber
    const leftAt = timeline.notAfterNow(new Date(at.getTime() + random.between(2, 20) * dayMs))
    return { ...subscriber, status: 'unsubscribed', unsubscribed_at: leftAt, updated_at: leftAt }
  })
  const all = await save(db, store, [...buyers, ...visitors])
  await markPushed(db, store, all)
  const limited = demoPrizes.filter((prize) => prize.stock !== null)
  const won = (prizeId: string): number => all.filter((each) => each.prize_id === prizeId).length
  const taken = limited.map(({ id }) => ({ id, taken: won(id) }))
  await insertRows(db, 'newsletter_prizes', store.id, taken)
  return all
}

/** People who ordered within the attribution window of a subscription. */
function listBuyers(store: DemoStore, shop: DemoShop, random: Random): Subscriber[] {
  return shop.attributed('newsletter').map(({ plan }) => {
    const before = random.between(10 * minuteMs, 4.5 * dayMs)
    return buildSubscriber(
      store,
      plan.customer,
      new Date(plan.placedAt.getTime() - before),
      plan.coupon,
      random,
    )
  })
}

/** Twice as many on weekends. */
function chooseVisit({ timeline }: DemoStore, random: Random): Date {
  for (;;) {
    const at = timeline.ago(random.between(0.05, 89.5))
    if (timeline.localHour(at) >= 7 && (timeline.isWeekend(at) || random.chance(0.5))) return at
  }
}

function buildSubscriber(
  store: DemoStore,
  { name, email, phone }: Pick<Person, 'name' | 'email'> & { phone: string | null },
  at: Date,
  code: string | null,
  random: Random,
): Subscriber {
  const prize = code === null ? null : random.pick(prizes)
  return {
    id: idFromName(`subscriber ${store.slug} ${email}`, at.getTime()),
    email,
    phone,
    phone_key: phone && phoneKey(phone),
    name,
    status: 'subscribed',
    source: 'popup',
    consent_email: true,
    consent_phone: phone !== null,
    consent_text: popup!.settings.texts.consentText,
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
  const touches = oldestFirst.map(
    (each): SeedRow<'attribution_touches'> => ({
      id: idFromName(`touch ${each.id}`, each.created_at.getTime()),
      source_type: 'newsletter',
      source_id: each.id,
      source_name: 'Popup',
      channel: 'storefront',
      phone_key: each.phone_key ?? null,
      email: each.email!.toLowerCase(),
      coupon_code: each.coupon_code ?? null,
      touched_at: each.created_at,
    }),
  )
  await insertRows(db, 'attribution_touches', store.id, touches)
  // The emails with the codes, a moment later.
  const mails = oldestFirst
    .filter((each) => each.coupon_code !== null)
    .map(({ id, email, created_at }) => {
      const sent_at = new Date(created_at.getTime() + 2000)
      return {
        id: idFromName(`coupon email ${id}`, sent_at.getTime()),
        source_id: id,
        email: email!,
        sent_at,
      }
    })
  await recordSent(db, store.id, mails, ({ source_id }) => ({
    channel: 'email',
    source: 'newsletter',
    source_id,
  }))
  return oldestFirst
}

/** The first 120 subscribed then; the provider has them too. */
async function markPushed(db: RootDatabase, store: DemoStore, all: readonly Subscriber[]): Promise<void> {
  const pushed = all.filter((each) => each.status === 'subscribed').slice(0, 120)
  const at = store.timeline.ago(0.4)
  await sql`update newsletter_subscribers
    set mailprovider_status = 'added', mailprovider_synced_at = ${at}::timestamptz, pushed_revision = 1
    where store_id = ${store.id} and id = any(${pushed.map(({ id }) => id)}::uuid[])`.execute(db)
  const members = pushed.map(({ email, name, phone }) => ({
    store_id: store.id,
    kind: 'mailing-list-member',
    id: email!.toLowerCase(),
    data: JSON.stringify({ email, name, phone, tags: [] }),
    updated_at: at,
  }))
  await db
    .insertInto('sandbox_objects')
    .values(members)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** People of the VIP list who used the contact form. */
export async function linkSubmissions(db: RootDatabase, { id }: DemoStore, vipId: string): Promise<void> {
  await sql`update contact_form_submissions s set contact_id = c.id from list_contacts c
    where s.store_id = ${id} and c.store_id = ${id} and c.list_id = ${vipId} and c.phone = s.phone`.execute(
    db,
  )
}

/** The loader was installed when the popup was first shown, and was requested a moment ago. */
export async function showLoader(ctx: Context, { timeline }: DemoStore): Promise<void> {
  await publication.install(ctx)
  await ctx.db
    .updateTable('storefront_scripts')
    .set({ installed_at: timeline.ago(90.5), last_seen_at: timeline.ago(0.01) })
    .execute()
}
