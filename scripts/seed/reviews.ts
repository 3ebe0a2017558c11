/** What buyers said in the demo, whom the store asked, and its testimonials. */
import type { RootDatabase } from '#db/database'
import { defaultReviewSettings } from '#operations/reviews/lib/settings-schema'
import { reviewWords } from '#operations/reviews/lib/submit'
import { defaultTestimonialSettings } from '#operations/reviews/lib/testimonial-schema'
import { searchText } from '#operations/reviews/lib/words'
import { namedId } from '#runtime/ids'
import { phoneKey } from '#runtime/phone'
import { american, brazilian } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import type { Timeline } from './timeline.ts'

type Review = SeedRow<'product_reviews'>
type Dispatch = SeedRow<'review_dispatches'>

interface Bought {
  order_id: string
  order_number: string
  order_item_id: string
  product_id: string
  product_name: string
  image_url: string | null
  variant_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  placed_at: Date
}

const perRating: readonly [rating: number, reviews: number][] = [
  [5, 96],
  [4, 46],
  [3, 20],
  [2, 10],
  [1, 8],
]
const said: Record<number, readonly string[]> = {
  5: ['Adorei, chegou antes do prazo.', 'Qualidade excelente.', 'Perfeito, comprarei de novo.'],
  4: ['Muito bom, só a embalagem veio amassada.', 'Gostei bastante.'],
  3: ['Razoável pelo preço.', 'Cumpre o que promete, nada além.'],
  2: ['Esperava mais do acabamento.', 'Demorou muito para chegar.'],
  1: ['Veio com defeito.', 'Não recomendo.'],
}
const fromRequests = 110
const fromStorefront = 40
const all = 180

/** 180 reviews over 400 days, 360 requests and 6 testimonials. After the mirror of the orders. */
export async function seedAuroraReviews(
  db: RootDatabase,
  store: DemoStore,
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const { id, timeline } = store
  const random = new Random('aurora reviews')
  await saveSettings(db, store, templateIds.get('review_request')!)
  const bought = await boughtIn(db, store)
  if (bought.length < 360) throw new Error(`Only ${bought.length} items were delivered: 360 are asked about`)
  const reviews = reviewsOf(store, random, bought)
  await insertRows(db, 'product_reviews', id, reviews)
  await insertRows(db, 'review_dispatches', id, dispatchesOf(store, random, bought, reviews))
  await insertRows(db, 'testimonials', id, testimonialsOf(store, random))
  await insertRows(db, 'testimonial_settings', id, [
    {
      content: { ...defaultTestimonialSettings, isEnabled: true },
      created_at: timeline.ago(200),
      updated_at: timeline.ago(200),
    },
  ])
}

/** 3 reviews and a testimonial; nothing is turned on. */
export async function seedBorealisReviews(db: RootDatabase, store: DemoStore): Promise<void> {
  const random = new Random('borealis reviews')
  const items = await boughtIn(db, store)
  const reviews = items.slice(0, 3).map((item, index) => {
    const person = american(random, 7700 + index)
    const at = store.timeline.ago(6 + index * 9)
    return reviewOf(
      store,
      { ...item, customer_name: person.name, customer_email: person.email },
      {
        index,
        rating: 5 - index,
        text: ['Great quality.', 'Nice, but small.', 'It is fine.'][index]!,
        status: 'approved',
        source: 'storefront',
        at,
      },
    )
  })
  await insertRows(db, 'product_reviews', store.id, reviews)
  await insertRows(db, 'testimonials', store.id, testimonialsOf(store, random).slice(0, 1))
}

async function saveSettings(
  db: RootDatabase,
  { id, timeline }: DemoStore,
  templateId: number,
): Promise<void> {
  const { request, reminder, autoPublish, message } = defaultReviewSettings
  const content = {
    ...defaultReviewSettings,
    request: {
      ...request,
      isEnabled: true,
      trigger: 'delivered',
      delayDays: 7,
      channel: 'messaging-or-email',
    },
    reminder: { ...reminder, isEnabled: true },
    autoPublish: { ...autoPublish, mode: 'rating' },
    message: { ...message, officialapiTemplateId: templateId },
  }
  const since = timeline.ago(400)
  await insertRows(db, 'review_settings', id, [
    // What was delivered until now has had its requests.
    { content, requests_since: timeline.now, scanned_to: timeline.now, created_at: since, updated_at: since },
  ])
}

/** Items of orders that were paid, newest first, of at most 24 products. */
async function boughtIn(db: RootDatabase, { id }: DemoStore): Promise<Bought[]> {
  const rows = await db
    .selectFrom('order_items as i')
    .innerJoin('orders as o', (join) =>
      join.onRef('o.store_id', '=', 'i.store_id').onRef('o.id', '=', 'i.order_id'),
    )
    .select([
      'o.id as order_id',
      'o.number as order_number',
      'i.id as order_item_id',
      'i.product_id',
      'i.name as product_name',
      'i.image_url',
      'i.variant_id',
      'o.customer_name',
      'o.customer_email',
      'o.customer_phone',
      'o.placed_at',
    ])
    .where('i.store_id', '=', id)
    .where('o.payment_status', '=', 'paid')
    .where('o.status', '<>', 'cancelled')
    .where('i.product_id', 'is not', null)
    .where('o.customer_name', 'is not', null)
    .orderBy('o.placed_at', 'desc')
    .orderBy('i.id')
    .execute()
  const products = [...new Set(rows.map((row) => row.product_id!))].sort().slice(0, 24)
  return rows.filter((row) => products.includes(row.product_id!)) as Bought[]
}

interface Given {
  index: number
  rating: number
  text: string
  status: 'approved' | 'pending' | 'rejected'
  source: 'request' | 'storefront' | 'import'
  at: Date
}

function reviewOf(store: DemoStore, item: Bought, given: Given): Review {
  const { index, rating, text, status, source, at } = given
  const isImported = source === 'import'
  const name = item.customer_name!
  return {
    id: namedId(`review ${store.slug} ${index}`, at.getTime()),
    product_id: item.product_id,
    product_name: item.product_name,
    product_image_url: item.image_url,
    variant_id: item.variant_id,
    variant_name: null,
    order_id: isImported ? null : item.order_id,
    order_item_id: isImported ? null : item.order_item_id,
    order_number: isImported ? null : item.order_number,
    customer_name: name,
    customer_email: item.customer_email,
    customer_phone: item.customer_phone,
    phone_key: item.customer_phone === null ? null : phoneKey(item.customer_phone),
    rating,
    title: rating === 5 ? 'Recomendo' : null,
    text,
    images: [],
    show_images: true,
    status,
    rejection_reason: status === 'rejected' ? 'Linguagem ofensiva' : null,
    verified: !isImported,
    verified_source: isImported ? null : 'order',
    featured: false,
    reply_text: null,
    reply_author: null,
    replied_at: null,
    source,
    import_key: isImported ? `demo-${index}` : null,
    search_text: reviewWords({
      name,
      email: item.customer_email,
      title: rating === 5 ? 'Recomendo' : null,
      text,
      productName: item.product_name,
    }),
    reviewed_at: at,
    moderated_at: status === 'pending' ? null : at,
    moderated_by: status === 'pending' ? null : 'auto',
    created_at: at,
    updated_at: at,
  }
}

/** The newest 24 wait, 6 of them from the last week. */
function reviewsOf(store: DemoStore, random: Random, bought: readonly Bought[]): Review[] {
  const { timeline } = store
  const ratings = random.shuffled(
    perRating.flatMap(([rating, count]) => Array(count).fill(rating) as number[]),
  )
  const sources = random.shuffled([
    ...(Array(fromRequests).fill('request') as 'request'[]),
    ...(Array(fromStorefront).fill('storefront') as 'storefront'[]),
    ...(Array(all - fromRequests - fromStorefront).fill('import') as 'import'[]),
  ])
  const items = random.shuffled(bought).slice(0, all)
  const reviews = items.map((item, index) => {
    const at = ageOf(index, timeline, random)
    const rating = ratings[index]!
    const status = index < 24 ? 'pending' : index % 19 === 5 && index < 177 ? 'rejected' : 'approved'
    return reviewOf(store, item, {
      index,
      rating,
      text: random.pick(said[rating]!),
      status,
      source: sources[index]!,
      at,
    })
  })
  const approved = reviews.filter((each) => each.status === 'approved')
  for (const review of approved.filter((each) => each.rating === 5).slice(0, 12)) review.featured = true
  for (const review of approved.filter((_each, index) => index % 4 === 1).slice(0, 35)) {
    review.reply_text = 'Obrigado por contar para a gente!'
    review.reply_author = 'Aurora Supply'
    review.replied_at = timeline.notAfterNow(new Date(review.reviewed_at.getTime() + 86_400_000))
  }
  for (const [index, review] of approved
    .filter((_each, index) => index % 3 === 2)
    .slice(0, 40)
    .entries()) {
    review.images = [review.product_image_url ?? `https://${store.domain}/reviews/${index}.jpg`]
    review.show_images = index >= 2
  }
  return reviews
}

function ageOf(index: number, timeline: Timeline, random: Random): Date {
  if (index < 6) return timeline.ago(random.between(0.2, 6.5))
  if (index < 24) return timeline.ago(random.between(7.5, 30))
  return timeline.ago(random.between(31, 400))
}

/** 110 led to a review, 190 were sent, 26 are to come, and 34 never left. */
function dispatchesOf(
  store: DemoStore,
  random: Random,
  bought: readonly Bought[],
  reviews: readonly Review[],
): Dispatch[] {
  const { timeline } = store
  const reviewed = reviews.filter((each) => each.source === 'request')
  const byItem = new Map(bought.map((item) => [`${item.order_id} ${item.order_item_id}`, item]))
  const taken = new Set(reviews.map((each) => `${each.order_id} ${each.order_item_id}`))
  const others = bought.filter((item) => !taken.has(`${item.order_id} ${item.order_item_id}`))
  const older = random.shuffled(others.slice(26))
  const groups: [status: string, items: readonly Bought[], reason: string | null][] = [
    ['scheduled', others.slice(0, 26), null],
    ['sent', older.slice(0, 190), null],
    ['skipped', older.slice(190, 204), 'already-reviewed'],
    ['cancelled', older.slice(204, 216), null],
    ['failed', older.slice(216, 224), 'not-on-network'],
  ]
  const dispatches = groups.flatMap(([status, items, reason]) =>
    items.map((item, index) => {
      const at =
        status === 'scheduled' ? timeline.ago(-(0.4 + (index * 9.5) / 26)) : after(item.placed_at, timeline)
      return dispatchOf(store, item, { status, reason, at, reviewId: null, index })
    }),
  )
  for (const [index, review] of reviewed.entries()) {
    const item = byItem.get(`${review.order_id} ${review.order_item_id}`)!
    const at = new Date(review.reviewed_at.getTime() - 86_400_000)
    dispatches.push(
      dispatchOf(store, item, { status: 'reviewed', reason: null, at, reviewId: review.id, index }),
    )
  }
  return dispatches
}

const after = (placedAt: Date, timeline: Timeline): Date =>
  timeline.notAfterNow(new Date(placedAt.getTime() + 9 * 86_400_000))

function dispatchOf(
  store: DemoStore,
  item: Bought,
  given: { status: string; reason: string | null; at: Date; reviewId: string | null; index: number },
): Dispatch {
  const { status, reason, at, reviewId, index } = given
  const hasLeft = status === 'sent' || status === 'reviewed'
  const made = new Date(Math.min(at.getTime(), store.timeline.now.getTime()) - 7 * 86_400_000)
  const name = `dispatch ${store.slug} ${item.order_id} ${item.order_item_id}`
  return {
    id: namedId(name, made.getTime()),
    order_id: item.order_id,
    order_number: item.order_number,
    order_item_id: item.order_item_id,
    product_id: item.product_id,
    product_name: item.product_name,
    variant_id: item.variant_id,
    customer_name: item.customer_name,
    customer_email: item.customer_email,
    customer_phone: item.customer_phone,
    phone_key: item.customer_phone === null ? null : phoneKey(item.customer_phone),
    channel: item.customer_phone === null || index % 5 < 2 ? 'email' : 'messaging',
    status,
    reason,
    scheduled_at: at,
    sent_at: hasLeft ? at : null,
    last_sent_at: hasLeft ? at : null,
    next_reminder_at: null,
    reminders_sent: 0,
    review_id: reviewId,
    message_id: null,
    search_text: searchText([item.order_number, item.customer_name, item.customer_email, item.product_name]),
    created_at: made,
    updated_at: hasLeft ? at : made,
  }
}

const quotes = [
  'Compro há anos e nunca me decepcionei.',
  'Atendimento rápido e gentil pelo WhatsApp.',
  'Presente perfeito, embalagem linda.',
  'A qualidade se nota no primeiro uso.',
  'Entrega no dia prometido.',
  'Troca sem complicação.',
]

function testimonialsOf(store: DemoStore, random: Random): SeedRow<'testimonials'>[] {
  return quotes.map((text, index) => {
    const at = store.timeline.ago(200 - index)
    return {
      id: namedId(`testimonial ${store.slug} ${index}`, at.getTime()),
      position: index + 1,
      author_name: brazilian(random, 7800 + index).name,
      author_title: ['São Paulo', 'Recife', 'Curitiba'][index % 3]!,
      text,
      rating: index === 4 ? null : 5,
      photo_url: null,
      is_enabled: index !== 5,
      created_at: at,
      updated_at: at,
    }
  })
}
